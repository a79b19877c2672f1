import json
import os
import secrets
from http.client import HTTPException
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
from django.views.decorators.http import require_GET, require_POST

AUTH = os.environ.get("EMAILAUTH_URL", "__ORIGIN__")
SITE = os.environ.get("SITE_URL", "__SITE__").rstrip("/")


@require_GET
def start(request):
    request.session["login_state"] = state = secrets.token_urlsafe()
    query = {"forward_url": f"{SITE}__CALLBACK__?state={state}", "language": "__LANGUAGE__"}
    return redirect(f"{AUTH}/auth?{urlencode(query)}")


@require_GET
def callback(request):
    token, expected = request.GET.get("token"), request.session.get("login_state")
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if not token or not expected or not constant_time_compare(request.GET.get("state"), expected):
        return refuse("This sign-in is not valid in this browser.", 400)
    query = urlencode({"token": token, "domain": urlsplit(SITE).hostname})
    try:
        with urlopen(f"{AUTH}/api/verify-token?{query}", timeout=5) as response:
            result = json.load(response)
    except (OSError, HTTPException, ValueError):
        return refuse("Sign-in is not available at the moment.", 503)
    if not result["valid"]:
        return refuse("This sign-in was already used or has expired.", 400)
    del request.session["login_state"]
    email, users = result["email"], get_user_model().objects
    user = users.filter(username=email).first() or users.create_user(email, email)
    # Access to a mailbox is not enough for staff.
    if not user.is_active or user.is_staff or user.is_superuser:
        return refuse("This account cannot sign in by email.", 403)
    # Someone else may have signed up with this address: their password is removed, which also ends their sessions.
    if user.has_usable_password():
        user.email = email
        user.set_unusable_password()
        user.save()
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("/account")


@login_required(login_url="/login")
def account(request):
    page = '<p>Signed in as {}</p><form method="post" action="/logout">{}<button>Log out</button></form>'
    field = format_html('<input type="hidden" name="csrfmiddlewaretoken" value="{}">', get_token(request))
    return HttpResponse(format_html(page, request.user.email, field))


@require_POST
def leave(request):
    logout(request)
    return redirect("/")


def refuse(reason, status):
    return HttpResponse(format_html('<p>{} <a href="/login">Try again</a></p>', reason), status=status)


urlpatterns = [path("login", start), path("__ROUTE__", callback), path("account", account), path("logout", leave)]
