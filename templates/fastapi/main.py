from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from email_login import email_login, page

app = FastAPI()
app.include_router(email_login)


@app.get("/", response_class=HTMLResponse)
def home():
    return page('<a href="__LOGIN__">Login with Email</a>')
