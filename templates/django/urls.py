from django.http import HttpResponse
from django.urls import include, path

from email_login import page


def home(request):
    return HttpResponse(page('<a href="__LOGIN__">Login with Email</a>'))


urlpatterns = [
    path("", home),
    path("", include("email_login")),
]
