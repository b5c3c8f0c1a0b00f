from django.urls import re_path

from .views import back

event_patterns = [
    re_path(r"^remotepay/return/(?P<order>[^/]+)/(?P<hash>[^/]+)/(?P<payment>\d+)/$", back, name="return"),
]
