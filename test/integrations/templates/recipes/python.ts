import { existsSync } from 'node:fs';
import { type Recipe, runs } from '../recipe.ts';

const debian = '/usr/bin/python3';
/** The Python that the packages of Debian are for, whichever other is first in the PATH. */
export const python = process.env.TEMPLATE_PYTHON ?? (existsSync(debian) ? debian : 'python3');
const imports = (names: string) => runs(python, '-c', `import ${names}`);

/** What `manage.py` does. */
export const django = `${python} -m django`;

const DJANGO_SETTINGS = `SECRET_KEY = "only for this test"
DEBUG = True
ALLOWED_HOSTS = []
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "site_urls"
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
LOGIN_URL = "email_login"`;

const DJANGO_URLS = `from django.http import HttpResponse
from django.urls import include, path
urlpatterns = [path("", lambda request: HttpResponse('<a href="/login">Login with Email</a>')), path("", include("email_login"))]`;

/** The Python templates, each around the few lines that its framework's own starter has. */
export const pythonRecipes: Recipe[] = [
  {
    id: 'flask',
    debianPackages: ['python3-flask'],
    available: () => imports('flask'),
    around: {
      'app.py': `from flask import Flask
from email_login import email_login
app = Flask(__name__)
app.register_blueprint(email_login)
app.get("/")(lambda: '<a href="/login">Login with Email</a>')`,
    },
    command: [python, '-m', 'flask', 'run', '--port', '{port}'],
  },
  {
    id: 'fastapi',
    debianPackages: ['python3-fastapi', 'python3-uvicorn'],
    available: () => imports('fastapi, uvicorn'),
    around: {
      'main.py': `from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from email_login import email_login
app = FastAPI()
app.include_router(email_login)
app.get("/", response_class=HTMLResponse)(lambda: '<a href="/login">Login with Email</a>')`,
    },
    command: [python, '-m', 'uvicorn', 'main:app', '--host', '127.0.0.1', '--port', '{port}'],
  },
  {
    id: 'django',
    debianPackages: ['python3-django'],
    available: () => imports('django'),
    around: { 'site_settings.py': DJANGO_SETTINGS, 'site_urls.py': DJANGO_URLS },
    command: ['sh', '-c', `${django} migrate -v 0 && exec ${django} runserver --noreload 127.0.0.1:{port}`],
    env: { DJANGO_SETTINGS_MODULE: 'site_settings' },
  },
];
