require "net/http"

class EmailLoginController < ApplicationController
  include SignedIn
  skip_before_action :require_sign_in, except: :account

  AUTH = ENV.fetch("EMAILAUTH_URL", "__ORIGIN__")
  SITE = ENV.fetch("SITE_URL", "__SITE__").chomp("/")
  HOST = SITE.split("/").last

  def login
    # Rails encrypts the session with a key for that alone; it lasts longer than a sign-in.
    session[:login_state] = state = SecureRandom.urlsafe_base64(24)
    back = { state: state, return_to: local_path(params[:return_to]) }
    query = { forward_url: "#{SITE}__CALLBACK__?#{back.to_query}", language: "__LANGUAGE__" }
    redirect_to "#{AUTH}/auth?#{query.to_query}", allow_other_host: true
  end

  def callback
    state, token, expected = params[:state].to_s, params[:token].to_s, session[:login_state].to_s
    return refuse("This sign-in is not valid in this browser.", :bad_request) if token.empty? || state.empty?
    # The state has expired, or the link was opened in another browser: the sign-in starts over.
    return redirect_to email_login_path(return_to: local_path(params[:return_to])), status: :see_other if expected.empty?
    # The state proves that this browser started the sign-in. Without this check, an attacker could sign the visitor in to another account.
    unless ActiveSupport::SecurityUtils.secure_compare(expected, state)
      return refuse("This sign-in is not valid in this browser.", :bad_request)
    end

    result = verify(token)
    return refuse("Sign-in is not available at the moment.", :service_unavailable) unless result
    return refuse("This sign-in was already used or has expired.", :bad_request) unless result["valid"]

    email = result["email"]
    # The data of the app stays in the session, unless it belongs to another visitor.
    kept = [nil, email].include?(signed_in_email) ? session.to_hash.except("session_id", "_csrf_token", "login_state") : {}
    reset_session
    session.update(kept.merge("signed_in_email" => email, "signed_in_host" => HOST))
    redirect_to local_path(params[:return_to])
  end

  def account
  end

  def logout
    reset_session
    redirect_to "/", status: :see_other
  end

  private

  # Returns the response of verify-token, or nil if the service is unavailable.
  def verify(token)
    uri = URI("#{AUTH}/api/verify-token?#{{ token: token, domain: URI(SITE).host }.to_query}")
    options = { use_ssl: uri.scheme == "https", open_timeout: 5, read_timeout: 5 }
    response = Net::HTTP.start(uri.host, uri.port, **options) { |http| http.get(uri) }
    JSON.parse(response.body) if response.is_a?(Net::HTTPSuccess)
  rescue SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError, JSON::ParserError
    nil
  end

  # Returns a path of this website to return to. Browsers take "//" and "\" for the start of another website.
  def local_path(path) = path.to_s.match?(%r{\A/(?![/\\])[^\\\x00-\x1f\x7f]{0,999}\z}) ? path : "/account"

  def refuse(reason, status) = render(:refused, status: status, locals: { reason: reason, return_to: local_path(params[:return_to]) })
end
