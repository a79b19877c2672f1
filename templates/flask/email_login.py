import json
import os
import re
import secrets
from functools import wraps
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from flask import Blueprint, redirect, render_template_string, request, session


def setting(name, default=None):
    """Returns a variable of the environment, or of the file .env beside this file or in the directory above."""
    files = [folder / ".env" for folder in Path(__file__).resolve().parents[:2]]
    text = next((file.read_text("utf-8-sig") for file in files if file.is_file()), "")
    lines = re.findall(rf"^{name}=(.+)$", text, re.MULTILINE)
    return os.environ.get(name) or (lines[-1].strip(" '\"") if lines else default)


AUTH = setting("EMAILAUTH_URL", "__ORIGIN__")
SITE = setting("SITE_URL", "__SITE__").rstrip("/")

email_login = Blueprint("email_login", __name__)


@email_login.record_once
def configure(state):
    """Adds the settings of a signed session cookie that the app does not have. Flask makes the cookie HttpOnly."""
    config = state.app.config
    if not config["SECRET_KEY"]:
        config.update(SECRET_KEY=setting("SESSION_SECRET"), SESSION_COOKIE_SECURE=SITE.startswith("https:"))
    config["SESSION_COOKIE_SAMESITE"] = config["SESSION_COOKIE_SAMESITE"] or "Lax"


@email_login.get("__LOGIN__")
def login():
    state = secrets.token_urlsafe()
    session["login_state"] = [state, local_path(request.args.get("return_to"))]
    query = {"forward_url": f"{SITE}__CALLBACK__?state={state}", "language": "__LANGUAGE__"}
    return redirect(f"{AUTH}/auth?{urlencode(query)}")


@email_login.get("__CALLBACK__")
def callback():
    state, token = request.args.get("state", ""), request.args.get("token")
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    expected, return_to = session.get("login_state", ["", ""])
    if not token or not expected or not secrets.compare_digest(state.encode(), expected.encode()):
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
    session["signed_in_email"] = result["email"]
    return redirect(return_to)


def signed_in_only(view):
    """Decorator for views that require a sign-in; session["signed_in_email"] is the email address."""

    @wraps(view)
    def guarded(*args, **kwargs):
        if "signed_in_email" in session:
            return view(*args, **kwargs)
        return redirect("__LOGIN__?" + urlencode({"return_to": request.full_path.rstrip("?")}))

    return guarded


@email_login.get("/account")
@signed_in_only
def account():
    return render_template_string(
        '<p>Signed in as {{ session.signed_in_email }}</p><form method="post" action="/logout"><button>Log out</button></form>'
    )


@email_login.post("/logout")
def logout():
    session.clear()
    return redirect("/", 303)


def local_path(path):
    """Returns a path of this website to return to. Browsers take "//" and "\\" for the start of another website."""
    return path if path and re.fullmatch(r"/(?![/\\])[^\\\x00-\x1f\x7f]{0,999}", path) else "/account"


def refuse(reason, status):
    return f'<p>{reason} <a href="__LOGIN__">Try again</a></p>', status
