import { type Recipe, runs } from '../recipe.ts';

const python = process.env.TEMPLATE_PYTHON ?? (runs('/usr/bin/python3', '-c', 'import flask') ? '/usr/bin/python3' : 'python3');
const HOME = '<a href="/login">Login with Email</a>';

const DJANGO = `import os, sys
from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse
from django.urls import include, path
settings.configure(
    SECRET_KEY="test", ROOT_URLCONF="main", ALLOWED_HOSTS=["*"], DEBUG=False,
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware", "django.middleware.csrf.CsrfViewMiddleware",
                "django.contrib.auth.middleware.AuthenticationMiddleware"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}})
sys.modules["main"] = sys.modules["__main__"]
if __name__ == "__main__":
    import django
    django.setup()
    urlpatterns = [path("", lambda request: HttpResponse('${HOME}')), path("", include("email_login"))]
    execute_from_command_line(["main.py", "migrate", "-v", "0"])
    execute_from_command_line(["main.py", "runserver", "--noreload", "127.0.0.1:" + os.environ["PORT"]])`;

export const pythonRecipes: Recipe[] = [
  {
    id: 'flask',
    available: () => runs(python, '-c', 'import flask'),
    around: {
      'main.py': `import os
from flask import Flask
from auth import init_auth
HOME = '${HOME}'
app = Flask(__name__)
init_auth(app)
app.get("/")(lambda: HOME)
app.run(host="127.0.0.1", port=int(os.environ["PORT"]))`,
    },
    command: [python, 'main.py'],
  },
  {
    id: 'fastapi',
    available: () => runs(python, '-c', 'import fastapi, uvicorn, httpx, itsdangerous'),
    around: {
      'main.py': `from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from auth import init_auth
HOME = '${HOME}'
app = FastAPI()
init_auth(app)
app.get("/", response_class=HTMLResponse)(lambda: HOME)`,
    },
    command: [python, '-m', 'uvicorn', 'main:app', '--host', '127.0.0.1', '--port', '{port}'],
  },
  {
    id: 'django',
    available: () => runs(python, '-c', 'import django'),
    around: { 'main.py': DJANGO },
    command: [python, 'main.py'],
  },
];
