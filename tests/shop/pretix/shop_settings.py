"""pretix's own settings, plus what this machine has no server for: mail goes to files, static files come from here."""

import os

from pretix.settings import *  # noqa: F401,F403
from pretix.settings import DATA_DIR, INSTALLED_APPS, MIDDLEWARE

EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = os.path.join(DATA_DIR, "mail")
MIDDLEWARE = ["whitenoise.middleware.WhiteNoiseMiddleware", *MIDDLEWARE]
INSTALLED_APPS = [*INSTALLED_APPS, "remotepay"]
