import json
import os
import re
import secrets
from functools import wraps
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from flask import Blueprint, current_app, make_response, redirect, render_template_string, request, session


def setting(name, default=None):
    """Returns a variable of the environment, or of the file .env beside this file or in the directory above."""
    files = [folder / ".env" for folder in Path(__file__).resolve().parents[:2]]
    text = next((file.read_text("utf-8-sig") for file in files if file.is_file()), "")
    lines = re.findall(rf"^{name}=(.+)$", text, re.MULTILINE)
    return os.environ.get(name) or (lines[-1].strip(" '\"") if lines else default)


AUTH = setting("EMAILAUTH_URL", "__ORIGIN__")
SITE = setting("SITE_URL", "__SITE__").rstrip("/")
HOST = urlsplit(SITE).netloc

email_login = Blueprint("email_login", __name__)


@email_login.record_once
def configure(state):
    """Adds the settings of a signed session cookie that the app does not have. Flask makes the cookie HttpOnly."""
    config, is_secure = state.app.config, SITE.startswith("https:")
    secret = config["SECRET_KEY"] or setting("SESSION_SECRET", "")
    # The example apps of Flask have a short key during development.
    if len(secret) < 32 and (is_secure or not config["SECRET_KEY"]):
        name = "SECRET_KEY" if config["SECRET_KEY"] else "SESSION_SECRET"
        raise RuntimeError(f"{name} needs at least 32 random characters. Make one: openssl rand -hex 32")
    if not config["SECRET_KEY"]:
        # A key for sessions alone: whatever else the app signs with SESSION_SECRET is no session.
        config["SECRET_KEY"] = f"session:{secret}"
        # Another subdomain cannot set a cookie with the prefix.
        config["SESSION_COOKIE_NAME"] = "__Host-login_session" if is_secure else "login_session"
    config["SESSION_COOKIE_SECURE"] = config["SESSION_COOKIE_SECURE"] or is_secure
    config["SESSION_COOKIE_SAMESITE"] = config["SESSION_COOKIE_SAMESITE"] or "Lax"


@email_login.get("__LOGIN__")
def login():
    session["login_state"] = state = secrets.token_urlsafe()
    back = urlencode({"state": state, "return_to": local_path(request.args.get("return_to"))})
    query = {"forward_url": f"{SITE}__CALLBACK__?{back}", "language": "__LANGUAGE__"}
    return redirect(f"{AUTH}/auth?{urlencode(query)}")


@email_login.get("__CALLBACK__")
def callback():
    state, token, expected = request.args.get("state"), request.args.get("token"), session.get("login_state")
    if not token or not state or has_two_sessions():
        return refuse("This sign-in is not valid in this browser.", 400)
    # The state has expired, or the link was opened in another browser: the sign-in starts over.
    if not expected:
        return redirect(login_for(request.args.get("return_to")), 303)
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if not secrets.compare_digest(state.encode(), expected.encode()):
        return refuse("This sign-in is not valid in this browser.", 400)
    query = urlencode({"token": token, "domain": urlsplit(SITE).hostname})
    try:
        with urlopen(f"{AUTH}/api/verify-token?{query}", timeout=5) as response:
            result = json.load(response)
    except (OSError, HTTPException, ValueError):
        return refuse("Sign-in is not available at the moment.", 503)
    if not result["valid"]:
        return refuse("This sign-in was already used or has expired.", 400)
    # The data of the app stays in the session, unless it belongs to another visitor.
    if session.get("signed_in_email", result["email"]) != result["email"]:
        session.clear()
    session.pop("login_state", None)
    session.update(signed_in_email=result["email"], signed_in_host=HOST)
    return redirect(local_path(request.args.get("return_to")))


def signed_in_only(view):
    """Decorator for views that require a sign-in; session["signed_in_email"] is the email address."""

    @wraps(view)
    def guarded(*args, **kwargs):
        is_signed_in = session.get("signed_in_host") == HOST and not has_two_sessions()
        page = view(*args, **kwargs) if is_signed_in else redirect(login_for(request.full_path.rstrip("?")))
        response = make_response(page)
        response.headers["Cache-Control"] = "no-store"
        return response

    return guarded


@email_login.get("/account")
@signed_in_only
def account():
    return page(
        '<p>Signed in as {{ session.signed_in_email }}</p><form method="post" action="/logout"><button>Log out</button></form>'
    )


@email_login.post("/logout")
def logout():
    # A form of another website must not sign the visitor out.
    if request.headers.get("Origin") != SITE and request.headers.get("Sec-Fetch-Site") != "same-origin":
        return "Forbidden", 403
    session.clear()
    return redirect("/", 303)


def local_path(path):
    """Returns a path of this website to return to. Browsers take "//" and "\\" for the start of another website."""
    return path if path and re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f\x7f]{0,999}", path) else "/account"


def login_for(path):
    return "__LOGIN__?" + urlencode({"return_to": local_path(path)})


def has_two_sessions():
    """Returns whether there are two cookies of the session, of which one may be from another subdomain."""
    return len(request.cookies.getlist(current_app.config["SESSION_COOKIE_NAME"])) > 1


def refuse(reason, status):
    link = login_for(request.args.get("return_to"))
    return page('<p>{{ reason }} <a href="{{ link }}">Try again</a></p>', reason=reason, link=link), status


def page(body, **values):
    head = """<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__"""
    return render_template_string(f'<!doctype html><html lang="en">{head}{body}</html>', **values)
