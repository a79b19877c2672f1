import hmac
import json
import os
import re
import secrets
import time
from html import escape
from http.client import HTTPException as HTTPError
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit
from urllib.request import urlopen

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse


def setting(name: str, default: str = "") -> str:
    """Returns a variable of the environment, or of the file .env beside this file or in the directory above."""
    files = [folder / ".env" for folder in Path(__file__).resolve().parents[:2]]
    text = next((file.read_text("utf-8-sig") for file in files if file.is_file()), "")
    lines = re.findall(rf"^{name}=(.+)$", text, re.MULTILINE)
    return os.environ.get(name) or (lines[-1].strip(" '\"") if lines else default)


AUTH = setting("EMAILAUTH_URL", "__ORIGIN__")
SITE = setting("SITE_URL", "__SITE__").rstrip("/")
HOST = urlsplit(SITE).netloc
SECRET = setting("SESSION_SECRET")
if len(SECRET) < 32:
    raise RuntimeError("SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32")
COOKIE = {"httponly": True, "samesite": "lax", "secure": SITE.startswith("https:")}
# Another subdomain cannot set a cookie with this prefix.
PREFIX = "__Host-" if COOKIE["secure"] else ""
STATE, SESSION = f"{PREFIX}login_state", f"{PREFIX}login_session"
STATE_SECONDS = 3600
SESSION_SECONDS = 7 * 24 * 3600

email_login = APIRouter()


@email_login.get("__LOGIN__")
def login(return_to: str = ""):
    state = secrets.token_urlsafe()
    back = urlencode({"state": state, "return_to": local_path(return_to)})
    query = {"forward_url": f"{SITE}__CALLBACK__?{back}", "language": "__LANGUAGE__"}
    response = RedirectResponse(f"{AUTH}/auth?{urlencode(query)}", 303)
    response.set_cookie(STATE, state, STATE_SECONDS, **COOKIE)
    return response


@email_login.get("__CALLBACK__")
def callback(request: Request, state: str = "", token: str = "", return_to: str = ""):
    expected = cookie_of(request, STATE)
    if not token or not state:
        return refuse("This sign-in is not valid in this browser.", 400, return_to)
    # The state has expired, or the link was opened in another browser: the sign-in starts over.
    if expected is None:
        return RedirectResponse(login_for(return_to), 303)
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if not secrets.compare_digest(state.encode(), expected.encode()):
        return refuse("This sign-in is not valid in this browser.", 400, return_to)
    query = urlencode({"token": token, "domain": urlsplit(SITE).hostname})
    try:
        with urlopen(f"{AUTH}/api/verify-token?{query}", timeout=5) as verification:
            result = json.load(verification)
    except (OSError, HTTPError, ValueError):
        return refuse("Sign-in is not available at the moment.", 503, return_to)
    if not result["valid"]:
        return refuse("This sign-in was already used or has expired.", 400, return_to)
    response = RedirectResponse(local_path(return_to), 303)
    response.delete_cookie(STATE, **COOKIE)
    session = quote(json.dumps([result["email"], HOST, int(time.time()) + SESSION_SECONDS]), safe="")
    response.set_cookie(SESSION, f"{session}.{sign(session)}", SESSION_SECONDS, **COOKIE)
    return response


def signed_in_email(request: Request, response: Response) -> str:
    """The dependency of paths that require a sign-in; redirects other visitors to __LOGIN__."""
    response.headers["Cache-Control"] = "no-store"
    session, _, signature = (cookie_of(request, SESSION) or "").rpartition(".")
    if hmac.compare_digest(signature.encode(), sign(session).encode()):
        email, host, until = json.loads(unquote(session))
        if host == HOST and time.time() < until:
            return email
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    raise HTTPException(303, headers={"Location": login_for(path)})


@email_login.get("/account", response_class=HTMLResponse)
def account(email: str = Depends(signed_in_email)):
    return page(f'<p>Signed in as {escape(email)}</p><form method="post" action="/logout"><button>Log out</button></form>')


@email_login.post("/logout")
def logout(request: Request):
    # A form of another website must not sign the visitor out.
    if request.headers.get("Origin") != SITE and request.headers.get("Sec-Fetch-Site") != "same-origin":
        raise HTTPException(403)
    response = RedirectResponse("/", 303)
    response.delete_cookie(SESSION, **COOKIE)
    return response


def sign(session: str) -> str:
    # A key for sessions alone: whatever else the app signs with its secret is no session.
    return hmac.new(f"session:{SECRET}".encode(), session.encode(), "sha256").hexdigest()


def cookie_of(request: Request, name: str):
    """Returns the value of a cookie; an empty one when there are two, of which one may be from another subdomain."""
    cookies = [cookie.partition("=") for cookie in re.split("; *", request.headers.get("Cookie", ""))]
    values = [value for key, _, value in cookies if key == name]
    return "" if len(values) > 1 else next(iter(values), None)


def local_path(path: str) -> str:
    """Returns a path of this website to return to. Browsers take "//" and "\\" for the start of another website."""
    return path if re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f\x7f]{0,999}", path) else "/account"


def login_for(path: str) -> str:
    return "__LOGIN__?" + urlencode({"return_to": local_path(path)})


def refuse(reason: str, status: int, path: str):
    return HTMLResponse(page(f'<p>{reason} <a href="{login_for(path)}">Try again</a></p>'), status)


def page(body: str) -> str:
    head = """<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__"""
    return f'<!doctype html><html lang="en">{head}{body}</html>'
