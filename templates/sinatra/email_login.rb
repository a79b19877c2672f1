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

    def sign(session) = OpenSSL::HMAC.hexdigest("SHA256", SECRET, "email_login #{session}")

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

    def refusal(reason, status) = [status, "<p>#{reason} <a href=\"__LOGIN__\">Try again</a></p>"]
  end

  AUTH = setting("EMAILAUTH_URL", "__ORIGIN__")
  SITE = setting("SITE_URL", "__SITE__").chomp("/")
  SECRET = setting("SESSION_SECRET")
  raise "Set SESSION_SECRET to at least 32 random characters, in .env or in the environment." if SECRET.size < 32
  SESSION_SECONDS = 7 * 24 * 3600

  module Helpers
    # Returns the email address of the visitor; call it in routes that require a sign-in.
    def signed_in_email
      session, signature = request.cookies["email_login"].to_s.split(".", 2)
      email, expiry = JSON.parse(session.unpack1("m")) if signature && Rack::Utils.secure_compare(EmailLogin.sign(session), signature)
      return email if email && Time.now.to_i < expiry
      redirect "__LOGIN__?#{URI.encode_www_form(return_to: request.fullpath)}", 303
    end
  end

  def self.registered(app)
    app.helpers Helpers

    app.get "__LOGIN__" do
      state = SecureRandom.urlsafe_base64(24)
      response.set_cookie "login_state", EmailLogin.cookie("#{state}:#{EmailLogin.local_path(params["return_to"])}", 900)
      query = { forward_url: "#{SITE}__CALLBACK__?state=#{state}", language: "__LANGUAGE__" }
      redirect "#{AUTH}/auth?#{URI.encode_www_form(query)}", 303
    end

    app.get "__CALLBACK__" do
      state, token = params["state"].to_s, params["token"].to_s
      expected, return_to = request.cookies["login_state"].to_s.split(":", 2)
      # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
      if token.empty? || expected.to_s.empty? || !Rack::Utils.secure_compare(expected, state)
        halt(*EmailLogin.refusal("This sign-in is not valid in this browser.", 400))
      end
      result = EmailLogin.verify(token) or halt(*EmailLogin.refusal("Sign-in is not available at the moment.", 503))
      halt(*EmailLogin.refusal("This sign-in was already used or has expired.", 400)) unless result["valid"]
      response.delete_cookie "login_state", path: "/"
      session = [JSON.generate([result["email"], Time.now.to_i + SESSION_SECONDS])].pack("m0")
      response.set_cookie "email_login", EmailLogin.cookie("#{session}.#{EmailLogin.sign(session)}", SESSION_SECONDS)
      redirect EmailLogin.local_path(return_to), 303
    end

    app.get "/account" do
      email = Rack::Utils.escape_html(signed_in_email)
      "<p>Signed in as #{email}</p><form method=\"post\" action=\"/logout\"><button>Log out</button></form>"
    end

    app.post "/logout" do
      response.delete_cookie "email_login", path: "/"
      redirect "/", 303
    end
  end
end
