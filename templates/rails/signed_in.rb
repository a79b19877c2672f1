# Include this in controllers that require a sign-in.
module SignedIn
  extend ActiveSupport::Concern

  included do
    before_action :require_sign_in
    helper_method :signed_in_email
  end

  private

  def signed_in_email = session[:signed_in_email]

  def require_sign_in
    redirect_to email_login_path(return_to: request.fullpath) unless signed_in_email
  end
end
