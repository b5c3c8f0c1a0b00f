"""How Django reads a request. Served by gunicorn: `gunicorn django_app:application`."""

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
from django.urls import path, re_path

from readings import lines, of_json

settings.configure(DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="readings", MIDDLEWARE=[])


def view(request, event=None, rest=None):
    said = lines("event", "route", event)
    body = request.body
    for name in ("id", "event_id"):
        said += lines(name, "GET", request.GET.get(name))
        said += lines(name, "GET.getlist", request.GET.getlist(name)[:1])
        said += lines(name, "POST", request.POST.get(name))
    said += lines("user", "META", request.META.get("HTTP_X_USER"))
    said += lines("sid", "COOKIES", request.COOKIES.get("sid"))
    said += lines("email", "POST", request.POST.get("email"))
    said += of_json(request.META.get("CONTENT_TYPE", ""), body)
    return HttpResponse(said, content_type="text/plain")


urlpatterns = [
    path("event/<str:event>", view),
    path("event/<str:event>/", view),
    path("event/<str:event>/<path:rest>", view),
    re_path("", view),
]
application = get_wsgi_application()
