from urllib.parse import urlencode

from authlib.integrations.django_client import OAuth
from django.conf import settings
from django.http import JsonResponse
from django.shortcuts import redirect
from django.urls import path

oauth = OAuth()
oauth.register("emailauth")


def home(request):
    return JsonResponse(request.session.get("user"), safe=False)


def login(request):
    return oauth.emailauth.authorize_redirect(request, f"{settings.APP_URL}/callback")


def callback(request):
    token = oauth.emailauth.authorize_access_token(request)
    user = token["userinfo"]
    request.session.cycle_key()
    request.session["user"] = {"sub": user["sub"], "email": user["email"]}
    request.session["id_token"] = token["id_token"]
    return redirect("/")


def logout(request):
    id_token = request.session.get("id_token", "")
    request.session.flush()
    parameters = {"id_token_hint": id_token, "post_logout_redirect_uri": f"{settings.APP_URL}/"}
    endpoint = oauth.emailauth.load_server_metadata()["end_session_endpoint"]
    return redirect(f"{endpoint}?{urlencode(parameters)}")


urlpatterns = [path("", home), path("login", login), path("callback", callback), path("logout", logout)]
