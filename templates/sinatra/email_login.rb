require "json"
require "net/http"
require "openssl"
require "securerandom"
require "sinatra/base"

# A Sinatra extension: `register EmailLogin`. It has a cookie of its own; the session of the app stays as it is.
module EmailLogin
  class << self
    # Returns a variable of the environment, or of the file .env beside this file or in the directory above.
    def setting(name, default = "")
      file = [".env", "../.env"].map { |path| File.expand_path(path, __dir__) }.find { |path| File.file?(path) }
      lines = file ? File.read(file, encoding: "bom|utf-8").scan(/^#{name}=["']?([^"'\s]+)/).flatten : []
      ENV[name].to_s.empty? ? lines.last || default : ENV[name]
    end

    def cookie(value, seconds)
      { value: value, max_age: seconds, path: "/", httponly: true, same_site: :lax, secure: SITE.start_with?("https:") }
    end

    # A key for sessions alone: whatever else the app signs with its secret is no session.
    def sign(session) = OpenSSL::HMAC.hexdigest("SHA256", "session:#{SECRET}", session)

    # Returns the value of a cookie, or nil; an empty one when there are two, of which one may be from another subdomain.
    def cookie_of(request, name)
      values = request.get_header("HTTP_COOKIE").to_s.scan(/(?:\A|; ?)#{name}=([^;]*)/).flatten
      values.size > 1 ? "" : values.first
    end

    # Returns a path of this website to return to. Browsers take "//" and "\" for the start of another website.
    def local_path(path) = path.to_s.match?(%r{\A/(?![/\\])[^\\\x00-\x1f\x7f]{0,999}\z}) ? path : "/account"

    # Returns the response of verify-token, or nil if the service is unavailable.
    def verify(token)
      uri = URI("#{AUTH}/api/verify-token?#{URI.encode_www_form(token: token, domain: URI(SITE).host)}")
      options = { use_ssl: uri.scheme == "https", open_timeout: 5, read_timeout: 5 }
      response = Net::HTTP.start(uri.host, uri.port, **options) { |http| http.get(uri) }
      JSON.parse(response.body) if response.is_a?(Net::HTTPSuccess)
    rescue SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError, JSON::ParserError
      nil
    end

    def login_for(path) = "__LOGIN__?#{URI.encode_www_form(return_to: local_path(path))}"

    def refusal(reason, status, path) = [status, page("<p>#{reason} <a href=\"#{login_for(path)}\">Try again</a></p>")]

    def page(body)
      head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign-in</title>__STYLE__'
      "<!doctype html><html lang=\"en\">#{head}#{body}</html>"
    end
  end

  AUTH = setting("EMAILAUTH_URL", "__ORIGIN__")
  SITE = setting("SITE_URL", "__SITE__").chomp("/")
  HOST = SITE.split("/").last
  SECRET = setting("SESSION_SECRET")
  raise "SESSION_SECRET needs at least 32 random characters. Make one: openssl rand -hex 32" if SECRET.size < 32
  # Another subdomain cannot set a cookie with this prefix.
  PREFIX = SITE.start_with?("https:") ? "__Host-" : ""
  STATE, SESSION = "#{PREFIX}login_state", "#{PREFIX}login_session"
  STATE_SECONDS = 3600
  SESSION_SECONDS = 7 * 24 * 3600

  module Helpers
    # Returns the email address of the visitor; call it in routes that require a sign-in.
    def signed_in_email
      headers "Cache-Control" => "no-store"
      session, signature = EmailLogin.cookie_of(request, SESSION).to_s.split(".", 2)
      email, host, expiry = JSON.parse([session].pack("H*")) if signature && Rack::Utils.secure_compare(EmailLogin.sign(session), signature)
      return email if host == HOST && Time.now.to_i < expiry
      redirect EmailLogin.login_for(request.fullpath), 303
    end
  end

  def self.registered(app)
    app.helpers Helpers

    app.get "__LOGIN__" do
      state = SecureRandom.urlsafe_base64(24)
      response.set_cookie STATE, EmailLogin.cookie(state, STATE_SECONDS)
      back = URI.encode_www_form(state: state, return_to: EmailLogin.local_path(params["return_to"]))
      query = { forward_url: "#{SITE}__CALLBACK__?#{back}", language: "__LANGUAGE__" }
      redirect "#{AUTH}/auth?#{URI.encode_www_form(query)}", 303
    end

    app.get "__CALLBACK__" do
      state, token, path, expected = params["state"].to_s, params["token"].to_s, params["return_to"], EmailLogin.cookie_of(request, STATE)
      refuse = ->(reason, status) { halt(*EmailLogin.refusal(reason, status, path)) }
      refuse.("This sign-in is not valid in this browser.", 400) if token.empty? || state.empty?
      # The state has expired, or the link was opened in another browser: the sign-in starts over.
      redirect EmailLogin.login_for(path), 303 unless expected
      # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
      refuse.("This sign-in is not valid in this browser.", 400) unless Rack::Utils.secure_compare(expected, state)
      result = EmailLogin.verify(token) or refuse.("Sign-in is not available at the moment.", 503)
      refuse.("This sign-in was already used or has expired.", 400) unless result["valid"]
      response.set_cookie STATE, EmailLogin.cookie("", 0)
      session = JSON.generate([result["email"], HOST, Time.now.to_i + SESSION_SECONDS]).unpack1("H*")
      response.set_cookie SESSION, EmailLogin.cookie("#{session}.#{EmailLogin.sign(session)}", SESSION_SECONDS)
      redirect EmailLogin.local_path(path), 303
    end

    app.get "/account" do
      email = Rack::Utils.escape_html(signed_in_email)
      EmailLogin.page("<p>Signed in as #{email}</p><form method=\"post\" action=\"/logout\"><button>Log out</button></form>")
    end

    app.post "/logout" do
      # A form of another website must not sign the visitor out.
      halt 403 if request.get_header("HTTP_ORIGIN") != SITE && request.get_header("HTTP_SEC_FETCH_SITE") != "same-origin"
      response.set_cookie SESSION, EmailLogin.cookie("", 0)
      redirect "/", 303
    end
  end
end
