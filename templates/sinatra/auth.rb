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
    query = { forward_url: "#{SITE}__CALLBACK__?state=#{state}", language: "__LANGUAGE__" }
    redirect "#{AUTH}/auth?#{URI.encode_www_form(query)}", 303
  end

  get "__CALLBACK__" do
    state, token, expected = params["state"].to_s, params["token"].to_s, session[:login_state].to_s
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    if token.empty? || expected.empty? || !Rack::Utils.secure_compare(expected, state)
      refuse "This sign-in is not valid in this browser.", 400
    end
    result = verify(token) or refuse "Sign-in is not available at the moment.", 503
    refuse "This sign-in was already used or has expired.", 400 unless result["valid"]
    session.clear
    session.options[:renew] = true
    session[:email] = result["email"]
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
    # Call this in routes that require a sign-in.
    def signed_in_email = session[:email] || redirect("/login", 303)

    # Returns the response of verify-token, or nil if the service is unavailable.
    def verify(token)
      uri = URI("#{AUTH}/api/verify-token?#{URI.encode_www_form(token: token, domain: URI(SITE).host)}")
      options = { use_ssl: uri.scheme == "https", open_timeout: 5, read_timeout: 5 }
      response = Net::HTTP.start(uri.host, uri.port, **options) { |http| http.get(uri) }
      JSON.parse(response.body) if response.is_a?(Net::HTTPSuccess)
    rescue SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError, JSON::ParserError
      nil
    end

    def refuse(reason, status) = halt(status, "<p>#{reason} <a href=\"/login\">Try again</a></p>")
  end
end
