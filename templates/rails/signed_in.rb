# Include this in controllers that require a sign-in.
module SignedIn
  extend ActiveSupport::Concern

  included do
    before_action :require_sign_in
    helper_method :signed_in_email
  end

  private

  # A session of another website with the same key is none here.
  def signed_in_email = (session[:signed_in_email] if session[:signed_in_host] == EmailLoginController::HOST)

  def require_sign_in
    response.headers["Cache-Control"] = "no-store"
    redirect_to email_login_path(return_to: request.fullpath) unless signed_in_email
  end
end
