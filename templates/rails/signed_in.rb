# Include this in controllers that require a sign-in.
module SignedIn
  extend ActiveSupport::Concern

  included do
    before_action :require_sign_in
    helper_method :signed_in_email
  end

  private

  def signed_in_email = session[:email]

  def require_sign_in
    redirect_to login_path unless signed_in_email
  end
end
