import json
import os
import secrets
from datetime import timedelta
from functools import wraps
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from flask import Blueprint, redirect, render_template_string, request, session

AUTH = os.environ.get("EMAILAUTH_URL", "__ORIGIN__")
SITE = os.environ.get("SITE_URL", "__SITE__")

auth = Blueprint("auth", __name__)


def init_auth(app):
    """Call it once: init_auth(app). Sessions live in a signed cookie."""
    app.secret_key = os.environ["SESSION_SECRET"]
    app.permanent_session_lifetime = timedelta(days=7)
    app.config.update(
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=SITE.startswith("https:"),
    )
    app.register_blueprint(auth)


@auth.get("/login")
def login():
    session["login_state"] = state = secrets.token_urlsafe(24)
    forward_url = f"{SITE}__CALLBACK__?state={state}"
    return redirect(f"{AUTH}/auth?" + urlencode({"forward_url": forward_url, "language": "__LANGUAGE__"}), 303)


@auth.get("__CALLBACK__")
def callback():
    state, token = request.args.get("state"), request.args.get("token")
    # The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
    if not token or not state or state != session.get("login_state"):
        return refuse("This sign-in is not valid in this browser.", 400)
    question = urlencode({"token": token, "domain": urlsplit(SITE).hostname})
    try:
        with urlopen(f"{AUTH}/api/verify-token?{question}", timeout=5) as response:
            answer = json.load(response)
    except (OSError, ValueError):
        return refuse("Sign-in is not available at the moment.", 503)
    if not answer["valid"]:
        return refuse("This sign-in is used up or too old.", 400)
    session.clear()
    session.permanent = True
    session["email"] = answer["email"]
    return redirect("/account", 303)


def signed_in_only(view):
    """Put it on every view that needs a visitor; session["email"] says who it is."""

    @wraps(view)
    def guarded(*args, **kwargs):
        return view(*args, **kwargs) if "email" in session else redirect("/login", 303)

    return guarded


@auth.get("/account")
@signed_in_only
def account():
    page = '<p>Signed in as {{ email }}</p><form method="post" action="/logout"><button>Log out</button></form>'
    return render_template_string(page, email=session["email"])


@auth.post("/logout")
def logout():
    session.clear()
    return redirect("/", 303)


def refuse(reason, status):
    return render_template_string('<p>{{ reason }} <a href="/login">Try again</a></p>', reason=reason), status
