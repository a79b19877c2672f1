require "json"
require "net/http"
require "securerandom"
require "sinatra/base"

class Auth < Sinatra::Base
  AUTH = ENV.fetch("EMAILAUTH_URL", "__ORIGIN__")
  SITE = ENV.fetch("SITE_URL", "__SITE__").chomp("/")

  set :session_secret, ENV.fetch("SESSION_SECRET") # at least 64 characters
  set :sessions, httponly: true, same_site: :lax, secure: SITE.start_with?("https:"), expire_after: 7 * 24 * 3600

  get "/login" do
    session[:login_state] = state = SecureRandom.urlsafe_base64(24)
    question = { forward_url: "#{SITE}__CALLBACK__?state=#{state}", language: "__LANGUAGE__" }
    redirect "#{AUTH}/auth?#{URI.encode_www_form(question)}", 303
  end

  get "__CALLBACK__" do
    state, token, own = params["state"].to_s, params["token"].to_s, session[:login_state].to_s
    # The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
    if token.empty? || own.empty? || !Rack::Utils.secure_compare(own, state)
      refuse "This sign-in is not valid in this browser.", 400
    end
    answer = verify(token) or refuse "Sign-in is not available at the moment.", 503
    refuse "This sign-in is used up or too old.", 400 unless answer["valid"]
    session.clear
    session.options[:renew] = true
    session[:email] = answer["email"]
    redirect "/account", 303
  end

  get "/account" do
    email = Rack::Utils.escape_html(signed_in_email)
    "<p>Signed in as #{email}</p><form method=\"post\" action=\"/logout\"><button>Log out</button></form>"
  end

  post "/logout" do
    session.clear
    redirect "/", 303
  end

  helpers do
    # Call it in every route that needs a visitor.
    def signed_in_email = session[:email] || redirect("/login", 303)

    # What the service says of a token; nil when it does not answer.
    def verify(token)
      question = URI("#{AUTH}/api/verify-token?#{URI.encode_www_form(token: token, domain: URI(SITE).host)}")
      options = { use_ssl: question.scheme == "https", open_timeout: 5, read_timeout: 5 }
      response = Net::HTTP.start(question.host, question.port, **options) { |http| http.get(question) }
      JSON.parse(response.body) if response.is_a?(Net::HTTPSuccess)
    rescue SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError, JSON::ParserError
      nil
    end

    def refuse(reason, status) = halt(status, "<p>#{reason} <a href=\"/login\">Try again</a></p>")
  end
end
