import os

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]
SECRET_KEY = os.environ["SESSION_SECRET"]
DEBUG = False
ALLOWED_HOSTS = ["localhost"]
INSTALLED_APPS = ["django.contrib.sessions"]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
SESSION_ENGINE = "django.contrib.sessions.backends.file"
SESSION_COOKIE_SECURE = APP_URL.startswith("https:")
ROOT_URLCONF = "site_urls"
USE_TZ = True

AUTHLIB_OAUTH_CLIENTS = {
    "emailauth": {
        "client_id": os.environ["CLIENT_ID"],
        "client_secret": os.environ["CLIENT_SECRET"],
        "server_metadata_url": f"{ISSUER}/.well-known/openid-configuration",
        "client_kwargs": {"scope": "openid email", "code_challenge_method": "S256"},
    }
}
