import os
import secrets
from html import escape
from urllib.parse import urlencode, urlsplit

import httpx
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

AUTH = os.environ.get("EMAILAUTH_URL", "__ORIGIN__")
SITE = os.environ.get("SITE_URL", "__SITE__").rstrip("/")

auth = APIRouter()


def init_auth(app: FastAPI):
    """Call this once: init_auth(app). Sessions are stored in a signed, HttpOnly cookie."""
    options = {"max_age": 7 * 24 * 3600, "same_site": "lax", "https_only": SITE.startswith("https:")}
    app.add_middleware(SessionMiddleware, secret_key=os.environ["SESSION_SECRET"], **options)
    app.include_router(auth)


@auth.get("/login")
def login(request: Request):
    request.session["login_state"] = state = secrets.token_urlsafe()
    query = {"forward_url": f"{SITE}__CALLBACK__?state={state}", "language": "__LANGUAGE__"}
    return RedirectResponse(f"{AUTH}/auth?{urlencode(query)}", 303)


@auth.get("__CALLBACK__")
async def callback(request: Request, state: str = "", token: str = ""):
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    expected = request.session.get("login_state")
    if not token or not expected or not secrets.compare_digest(state.encode(), expected.encode()):
        return refuse("This sign-in is not valid in this browser.", 400)
    query = {"token": token, "domain": urlsplit(SITE).hostname}
    try:
        async with httpx.AsyncClient(timeout=5) as client:
            response = await client.get(f"{AUTH}/api/verify-token", params=query)
        response.raise_for_status()
        result = response.json()
    except (httpx.HTTPError, ValueError):
        return refuse("Sign-in is not available at the moment.", 503)
    if not result["valid"]:
        return refuse("This sign-in was already used or has expired.", 400)
    request.session.clear()
    request.session["email"] = result["email"]
    return RedirectResponse("/account", 303)


def signed_in_email(request: Request) -> str:
    """The dependency of paths that require a sign-in; redirects other visitors to /login."""
    if "email" not in request.session:
        raise HTTPException(303, headers={"Location": "/login"})
    return request.session["email"]


@auth.get("/account", response_class=HTMLResponse)
def account(email: str = Depends(signed_in_email)):
    return f'<p>Signed in as {escape(email)}</p><form method="post" action="/logout"><button>Log out</button></form>'


@auth.post("/logout")
def logout(request: Request):
    request.session.clear()
    return RedirectResponse("/", 303)


def refuse(reason: str, status: int):
    return HTMLResponse(f'<p>{reason} <a href="/login">Try again</a></p>', status)
