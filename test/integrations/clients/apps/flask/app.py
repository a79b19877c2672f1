import os

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, redirect, session
from urllib.parse import urlencode

ISSUER, APP_URL = os.environ["ISSUER"], os.environ["APP_URL"]

app = Flask(__name__)
app.secret_key = os.environ["SESSION_SECRET"]
app.config.update(SESSION_COOKIE_SAMESITE="Lax", SESSION_COOKIE_SECURE=APP_URL.startswith("https:"))

oauth = OAuth(app)
oauth.register(
    "emailauth",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_kwargs={"scope": "openid email offline_access", "prompt": "consent", "code_challenge_method": "S256"},
)


@app.get("/")
def home():
    return jsonify(session.get("user"))


@app.get("/login")
def login():
    return oauth.emailauth.authorize_redirect(f"{APP_URL}/callback")


@app.get("/callback")
def callback():
    token = oauth.emailauth.authorize_access_token()
    user = token["userinfo"]
    session.clear()
    session["user"] = {"sub": user["sub"], "email": user["email"]}
    session["tokens"] = {name: token[name] for name in ("id_token", "refresh_token")}
    return redirect("/")


@app.get("/refresh")
def refresh():
    metadata = oauth.emailauth.load_server_metadata()
    with oauth.emailauth._get_oauth_client(**metadata) as client:
        token = client.refresh_token(metadata["token_endpoint"], session["tokens"]["refresh_token"])
    session["tokens"] = {**session["tokens"], "refresh_token": token["refresh_token"]}
    user = oauth.emailauth.userinfo(token=token)
    return jsonify(sub=user["sub"], email=user["email"])


@app.get("/logout")
def logout():
    tokens = session.get("tokens", {})
    session.clear()
    parameters = {"id_token_hint": tokens.get("id_token", ""), "post_logout_redirect_uri": f"{APP_URL}/"}
    endpoint = oauth.emailauth.load_server_metadata()["end_session_endpoint"]
    return redirect(f"{endpoint}?{urlencode(parameters)}")


# For example { "error": "invalid_grant" } once the user has revoked the application.
@app.errorhandler(OAuthError)
def refused(error):
    return jsonify(error=error.error), 401
