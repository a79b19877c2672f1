require "json"
require "net/http"
require "omniauth_openid_connect"
require "sinatra/base"

ISSUER, APP_URL = ENV.values_at("ISSUER", "APP_URL")
CLIENT = ENV.values_at("CLIENT_ID", "CLIENT_SECRET")

class App < Sinatra::Base
  set :host_authorization, permitted_hosts: []
  use Rack::Session::Cookie, key: "session", secret: ENV["SESSION_SECRET"], same_site: :lax, secure: APP_URL.start_with?("https:")
  use OmniAuth::Builder do
    provider :openid_connect,
             name: :emailauth,
             issuer: ISSUER,
             discovery: true,
             scope: [:openid, :email, :offline_access],
             prompt: :consent,
             response_type: :code,
             client_auth_method: :basic,
             client_options: { identifier: CLIENT[0], secret: CLIENT[1], redirect_uri: "#{APP_URL}/auth/emailauth/callback" }
  end

  get("/") { json session[:user] }

  # OmniAuth begins a sign-in only by POST with a token, so that no other website can begin one.
  get("/login") do
    token = Rack::Protection::AuthenticityToken.token(session)
    %(<form method="post" action="/auth/emailauth"><input type="hidden" name="authenticity_token" value="#{token}"><button>Log in</button></form>)
  end

  get("/auth/emailauth/callback") do
    auth = request.env["omniauth.auth"]
    session[:user] = { sub: auth.uid, email: auth.info.email }
    session[:tokens] = { id: auth.credentials.id_token, refresh: auth.credentials.refresh_token }
    redirect "/"
  end

  # OmniAuth leaves the refresh of tokens to the app: one POST (RFC 6749, section 6).
  get("/refresh") do
    uri = URI("#{ISSUER}/oauth/token")
    request = Net::HTTP::Post.new(uri)
    request.basic_auth(*CLIENT)
    request.set_form_data(grant_type: "refresh_token", refresh_token: session[:tokens][:refresh])
    tokens = JSON.parse(Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == "https") { |http| http.request(request) }.body)
    halt 401, json({ error: tokens["error"] }) if tokens["error"]
    session[:tokens] = session[:tokens].merge(refresh: tokens["refresh_token"])
    json({ sub: session[:user][:sub] })
  end

  get("/logout") do
    id_token = session[:tokens][:id]
    session.clear
    redirect "#{ISSUER}/oauth/logout?#{URI.encode_www_form(id_token_hint: id_token, post_logout_redirect_uri: "#{APP_URL}/")}"
  end

  helpers do
    def json(value)
      content_type :json
      JSON.generate(value)
    end
  end
end

run App
