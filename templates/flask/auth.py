import json
import os
import secrets
from functools import wraps
from http.client import HTTPException
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from flask import Blueprint, redirect, render_template_string, request, session

AUTH = os.environ.get("EMAILAUTH_URL", "__ORIGIN__")
SITE = os.environ.get("SITE_URL", "__SITE__").rstrip("/")

auth = Blueprint("auth", __name__)


@auth.record_once
def configure(state):
    """Sessions are stored in a signed cookie, which Flask makes HttpOnly."""
    state.app.secret_key = os.environ["SESSION_SECRET"]
    state.app.config.update(SESSION_COOKIE_SAMESITE="Lax", SESSION_COOKIE_SECURE=SITE.startswith("https:"))


@auth.get("/login")
def login():
    session["login_state"] = state = secrets.token_urlsafe()
    query = {"forward_url": f"{SITE}__CALLBACK__?state={state}", "language": "__LANGUAGE__"}
    return redirect(f"{AUTH}/auth?{urlencode(query)}")


@auth.get("__CALLBACK__")
def callback():
    state, token = request.args.get("state", ""), request.args.get("token")
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    expected = session.get("login_state")
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
    session.clear()
    session["email"] = result["email"]
    return redirect("/account")


def signed_in_only(view):
    """Decorator for views that require a sign-in; session["email"] is the email address."""

    @wraps(view)
    def guarded(*args, **kwargs):
        return view(*args, **kwargs) if "email" in session else redirect("/login")

    return guarded


@auth.get("/account")
@signed_in_only
def account():
    return render_template_string(
        '<p>Signed in as {{ session.email }}</p><form method="post" action="/logout"><button>Log out</button></form>'
    )


@auth.post("/logout")
def logout():
    session.clear()
    return redirect("/", 303)


def refuse(reason, status):
    return f'<p>{reason} <a href="/login">Try again</a></p>', status
