import json
import os
import re
import secrets
from functools import wraps
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from django.contrib.auth import get_user_model, login, logout
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect
from django.urls import path
from django.utils.crypto import constant_time_compare
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.http import require_GET, require_POST


def setting(name, default):
    """Returns a variable of the environment, or of the file .env beside this file or in the directory above."""
    files = [folder / ".env" for folder in Path(__file__).resolve().parents[:2]]
    text = next((file.read_text("utf-8-sig") for file in files if file.is_file()), "")
    lines = re.findall(rf"^{name}=(.+)$", text, re.MULTILINE)
    return os.environ.get(name) or (lines[-1].strip(" '\"") if lines else default)


AUTH = setting("EMAILAUTH_URL", "__ORIGIN__")
SITE = setting("SITE_URL", "__SITE__").rstrip("/")
HOST = urlsplit(SITE).netloc


@require_GET
def start(request):
    # Django stores the session, or signs it with a key for that alone; it lasts longer than a sign-in.
    request.session["login_state"] = state = secrets.token_urlsafe()
    back = urlencode({"state": state, "next": local_path(request)})
    query = {"forward_url": f"{SITE}__CALLBACK__?{back}", "language": "__LANGUAGE__"}
    return redirect(f"{AUTH}/auth?{urlencode(query)}")


@require_GET
def callback(request):
    state, token, expected = request.GET.get("state"), request.GET.get("token"), request.session.get("login_state")
    if not token or not state:
        return refuse(request, "This sign-in is not valid in this browser.", 400)
    # The state has expired, or the link was opened in another browser: the sign-in starts over.
    if not expected:
        return redirect(login_for(request))
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if not constant_time_compare(state, expected):
        return refuse(request, "This sign-in is not valid in this browser.", 400)
    query = urlencode({"token": token, "domain": urlsplit(SITE).hostname})
    try:
        with urlopen(f"{AUTH}/api/verify-token?{query}", timeout=5) as response:
            result = json.load(response)
    except (OSError, HTTPException, ValueError):
        return refuse(request, "Sign-in is not available at the moment.", 503)
    if not result["valid"]:
        return refuse(request, "This sign-in was already used or has expired.", 400)
    del request.session["login_state"]
    User, email = get_user_model(), result["email"]
    fields = {User.get_email_field_name(): email, User.USERNAME_FIELD: email}
    user = User.objects.filter(**{User.USERNAME_FIELD: email}).first() or User.objects.create_user(**fields)
    # Access to a mailbox is not enough for staff.
    if not user.is_active or getattr(user, "is_staff", False) or getattr(user, "is_superuser", False):
        return refuse(request, "This account cannot sign in by email.", 403)
    # Someone else may have signed up with this address: their password is removed, which also ends their sessions.
    if user.has_usable_password():
        user.email = email
        user.set_unusable_password()
        user.save()
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    request.session["signed_in_host"] = HOST
    return redirect(local_path(request))


def signed_in_only(view):
    """Decorator for views that require a sign-in; browsers do not keep them."""

    @never_cache
    @wraps(view)
    def guarded(request, *args, **kwargs):
        # Websites with the same key and the same store of sessions accept each other's; this one does not.
        if request.session.get("signed_in_host", HOST) != HOST:
            logout(request)
        return login_required(view, login_url="email_login")(request, *args, **kwargs)

    return guarded


@signed_in_only
def account(request):
    text = '<p>Signed in as {}</p><form method="post" action="/logout">{}<button>Log out</button></form>'
    field = format_html('<input type="hidden" name="csrfmiddlewaretoken" value="{}">', get_token(request))
    return HttpResponse(page(format_html(text, request.user.email, field)))


@csrf_protect
@require_POST
def leave(request):
    logout(request)
    return redirect("/")


def local_path(request):
    """Returns a path of this website to return to; the account instead of another website."""
    to = request.GET.get("next", "")
    is_local = to.startswith("/") and len(to) <= 1000 and url_has_allowed_host_and_scheme(to, None)
    return to if is_local else "/account"


def login_for(request):
    return "__LOGIN__?" + urlencode({"next": local_path(request)})


def refuse(request, reason, status):
    return HttpResponse(page(format_html('<p>{} <a href="{}">Try again</a></p>', reason, login_for(request))), status=status)


def page(body):
    head = """<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__"""
    return f'<!doctype html><html lang="en">{head}{body}</html>'


urlpatterns = [
    path("__LOGIN__"[1:], start, name="email_login"),
    path("__CALLBACK__"[1:], callback),
    path("account", account),
    path("logout", leave),
]
