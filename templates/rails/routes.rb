get "/login", to: "email_login#login"
get "__CALLBACK__", to: "email_login#callback"
get "/account", to: "email_login#account"
post "/logout", to: "email_login#logout"
