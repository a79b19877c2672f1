import hmac
import json
import os
import re
import secrets
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from html import escape
from http.client import HTTPException as HTTPError
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import urlopen

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse


def setting(name: str, default: str = "") -> str:
    """Returns a variable of the environment, or of the file .env beside this file or in the directory above."""
    files = [folder / ".env" for folder in Path(__file__).resolve().parents[:2]]
    text = next((file.read_text("utf-8-sig") for file in files if file.is_file()), "")
    lines = re.findall(rf"^{name}=(.+)$", text, re.MULTILINE)
    return os.environ.get(name) or (lines[-1].strip(" '\"") if lines else default)


AUTH = setting("EMAILAUTH_URL", "__ORIGIN__")
SITE = setting("SITE_URL", "__SITE__").rstrip("/")
SECRET = setting("SESSION_SECRET")
if len(SECRET) < 32:
    raise RuntimeError("Set SESSION_SECRET to at least 32 random characters, in .env or in the environment.")
COOKIE = {"httponly": True, "samesite": "lax", "secure": SITE.startswith("https:")}
SESSION_SECONDS = 7 * 24 * 3600

email_login = APIRouter()


@email_login.get("__LOGIN__")
def login(return_to: str = ""):
    state = secrets.token_urlsafe()
    query = {"forward_url": f"{SITE}__CALLBACK__?state={state}", "language": "__LANGUAGE__"}
    response = RedirectResponse(f"{AUTH}/auth?{urlencode(query)}", 303)
    response.set_cookie("login_state", f"{state}:{quote(local_path(return_to), safe='')}", 900, **COOKIE)
    return response


@email_login.get("__CALLBACK__")
def callback(request: Request, state: str = "", token: str = ""):
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    expected, _, return_to = request.cookies.get("login_state", "").partition(":")
    if not token or not expected or not secrets.compare_digest(state.encode(), expected.encode()):
        return refuse("This sign-in is not valid in this browser.", 400)
    query = urlencode({"token": token, "domain": urlsplit(SITE).hostname})
    try:
        with urlopen(f"{AUTH}/api/verify-token?{query}", timeout=5) as verification:
            result = json.load(verification)
    except (OSError, HTTPError, ValueError):
        return refuse("Sign-in is not available at the moment.", 503)
    if not result["valid"]:
        return refuse("This sign-in was already used or has expired.", 400)
    response = RedirectResponse(local_path(unquote(return_to)), 303)
    response.delete_cookie("login_state", **COOKIE)
    session = urlsafe_b64encode(json.dumps([result["email"], int(time.time()) + SESSION_SECONDS]).encode()).decode()
    response.set_cookie("email_login", f"{session}.{sign(session)}", SESSION_SECONDS, **COOKIE)
    return response


def signed_in_email(request: Request) -> str:
    """The dependency of paths that require a sign-in; redirects other visitors to __LOGIN__."""
    session, _, signature = request.cookies.get("email_login", "").partition(".")
    if hmac.compare_digest(signature.encode(), sign(session).encode()):
        email, until = json.loads(urlsafe_b64decode(session))
        if time.time() < until:
            return email
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    raise HTTPException(303, headers={"Location": f"__LOGIN__?{urlencode({'return_to': path})}"})


@email_login.get("/account", response_class=HTMLResponse)
def account(email: str = Depends(signed_in_email)):
    return f'<p>Signed in as {escape(email)}</p><form method="post" action="/logout"><button>Log out</button></form>'


@email_login.post("/logout")
def logout():
    response = RedirectResponse("/", 303)
    response.delete_cookie("email_login", **COOKIE)
    return response


def sign(session: str) -> str:
    return hmac.new(SECRET.encode(), b"email_login " + session.encode(), "sha256").hexdigest()


def local_path(path: str) -> str:
    """Returns a path of this website to return to. Browsers take "//" and "\\" for the start of another website."""
    return path if re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f\x7f]{0,999}", path) else "/account"


def refuse(reason: str, status: int):
    return HTMLResponse(f'<p>{reason} <a href="__LOGIN__">Try again</a></p>', status)
