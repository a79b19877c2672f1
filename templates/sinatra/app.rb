require "sinatra"
require_relative "email_login"

register EmailLogin

get "/" do
  EmailLogin.page('<a href="__LOGIN__">Login with Email</a>')
end
