require "net/http"

class EmailLoginController < ApplicationController
  include SignedIn
  skip_before_action :require_sign_in, except: :account

  AUTH = ENV.fetch("EMAILAUTH_URL", "__ORIGIN__")
  SITE = ENV.fetch("SITE_URL", "__SITE__").chomp("/")

  def login
    session[:login_state] = state = SecureRandom.urlsafe_base64(24)
    question = { forward_url: "#{SITE}__CALLBACK__?state=#{state}", language: "__LANGUAGE__" }
    redirect_to "#{AUTH}/auth?#{question.to_query}", allow_other_host: true
  end

  def callback
    state, token, own = params[:state].to_s, params[:token].to_s, session[:login_state].to_s
    # The state shows that this browser began the sign-in; without it, somebody could be signed in to an account not their own.
    if token.empty? || own.empty? || !ActiveSupport::SecurityUtils.secure_compare(own, state)
      return refuse("This sign-in is not valid in this browser.", :bad_request)
    end

    answer = verify(token)
    return refuse("Sign-in is not available at the moment.", :service_unavailable) unless answer
    return refuse("This sign-in is used up or too old.", :bad_request) unless answer["valid"]

    reset_session
    session[:email] = answer["email"]
    redirect_to account_path
  end

  def account
  end

  def logout
    reset_session
    redirect_to "/", status: :see_other
  end

  private

  # What the service says of a token; nil when it does not answer.
  def verify(token)
    question = URI("#{AUTH}/api/verify-token?#{{ token: token, domain: URI(SITE).host }.to_query}")
    options = { use_ssl: question.scheme == "https", open_timeout: 5, read_timeout: 5 }
    response = Net::HTTP.start(question.host, question.port, **options) { |http| http.get(question) }
    JSON.parse(response.body) if response.is_a?(Net::HTTPSuccess)
  rescue SystemCallError, IOError, SocketError, Timeout::Error, OpenSSL::SSL::SSLError, Net::ProtocolError, JSON::ParserError
    nil
  end

  def refuse(reason, status) = render(:refused, status: status, locals: { reason: reason })
end
