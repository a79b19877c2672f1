get "__LOGIN__", to: "email_login#login", as: :email_login
get "__CALLBACK__", to: "email_login#callback", as: :email_login_callback
get "/account", to: "email_login#account", as: :email_login_account
post "/logout", to: "email_login#logout", as: :email_login_logout
