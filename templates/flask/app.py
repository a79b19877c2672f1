from flask import Flask

from email_login import email_login, page

app = Flask(__name__)
app.register_blueprint(email_login)


@app.get("/")
def home():
    return page('<a href="__LOGIN__">Login with Email</a>')
