import { existsSync } from 'node:fs';
import { type Recipe, runs } from '../recipe.ts';

// Debian's packages are for Debian's Python, whichever other is first in the PATH.
const debian = '/usr/bin/python3';
const python = process.env.TEMPLATE_PYTHON ?? (existsSync(debian) ? debian : 'python3');
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
LOGIN_URL = "/login"`;

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
from auth import auth
app = Flask(__name__)
app.register_blueprint(auth)
app.get("/")(lambda: '<a href="/login">Login with Email</a>')`,
    },
    command: [python, '-m', 'flask', 'run', '--port', '{port}'],
  },
  {
    id: 'fastapi',
    debianPackages: ['python3-fastapi', 'python3-uvicorn', 'python3-httpx', 'python3-itsdangerous'],
    available: () => imports('fastapi, uvicorn, httpx, itsdangerous'),
    around: {
      'main.py': `from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from auth import init_auth
app = FastAPI()
init_auth(app)
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
