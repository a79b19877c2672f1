/** Returns how a rejected request of a client is recorded. */
export const refusalReason = (error: string, description: string) => (description ? `${error}: ${description}` : error);

/** Returns the error code and the description of refusalReason. */
export function refusalOf(reason: string): { error: string; description: string } {
  const [error, ...rest] = reason.split(': ');
  return { error, description: rest.join(': ') };
}

/** What to change after an error, by its description; the first that matches. */
const BY_DESCRIPTION: readonly [RegExp, string][] = [
  [/code_verifier/, 'Send the code_verifier that belongs to the code_challenge of the authorization request, 43 to 128 characters.'],
  [
    /PKCE|code_challenge/,
    'Send code_challenge with code_challenge_method=S256 (RFC 7636): turn on PKCE in the library. For a confidential application whose software cannot send it, turn off Require PKCE.',
  ],
  [/post_logout_redirect_uri/, 'Add this post_logout_redirect_uri to the logout URIs of the application, or use one of them unchanged.'],
  [/redirect_uri/, 'Send one of the registered redirect URIs of the application unchanged, or add this one.'],
  [
    /mechanism does not match/,
    'Configure the library with the authentication of the application: none, a client secret or private_key_jwt.',
  ],
  [/only be provided using one mechanism/, 'Send the client secret once: in the Authorization header or in the body.'],
  [/authorization header/i, 'Send Authorization: Basic with client ID and secret, each form-encoded, or send the secret in the body.'],
  [/invalid secret|client authentication failed/, 'Use the newest client secret, or rotate it. A former secret expires after a rotation.'],
  [/client is invalid|client not found/, 'Check the client_id, and that the application is switched on.'],
  [/client_assertion|JWT/, 'Sign the client assertion with a registered key, with the token endpoint or the issuer as audience.'],
  [/already (?:used|consumed)|consumed/, 'Exchange a code once. Reloading the callback page must not send it again.'],
  [/refresh token/i, 'Use the newest refresh token: each one is valid once, and a second use ends all of the sign-in.'],
  [/missing required/, 'Send the parameters that the description names.'],
  [/response_type/, 'Send response_type=code.'],
  [/response_mode/, 'Leave out response_mode, or send query, form_post or fragment.'],
  [/grant.type/i, 'Use authorization_code, refresh_token or the device flow.'],
  [/openid scope/, 'Add openid to the scope parameter.'],
  [/id_token_hint/, 'Send an ID token that this service issued to the same client.'],
  [/DPoP/, 'Sign a new DPoP proof for each request, with its URL and method (RFC 9449).'],
  [/request_uri/, 'Push the authorization request again: its request_uri is valid once and for a short time.'],
  [/^origin \S+ not allowed/, 'Call the endpoint from a server, or from a page on a host of a redirect URI.'],
];

/** What to change after an error, by its code. */
const BY_ERROR: Readonly<Record<string, string>> = {
  access_denied: 'The person canceled the sign-in: offer to try again.',
  invalid_scope: 'Request only scopes that are allowed for the application, or allow the scope.',
  invalid_target: 'Send one resource parameter, with an address that the service lists as a protected resource.',
  invalid_grant: 'Start the sign-in again. A code is valid once, for a minute, and only with its redirect_uri and code_verifier.',
  invalid_client: 'Check client ID, authentication and client secret.',
  invalid_redirect_uri: 'Send one of the registered redirect URIs of the application unchanged, or add this one.',
  unauthorized_client: 'Use the authorization code flow with PKCE.',
  unsupported_grant_type: 'Use authorization_code, refresh_token or the device flow.',
  unsupported_response_type: 'Send response_type=code.',
  login_required:
    'With prompt=none no one was signed in, or the person had not used this client before: start the sign-in without prompt=none.',
  consent_required: 'With prompt=none the person had not agreed yet: start the sign-in without prompt=none.',
  interaction_required: 'With prompt=none the person had to do something: start the sign-in without prompt=none.',
  account_selection_required: 'With prompt=none the person had to choose an account: start the sign-in without prompt=none.',
  expired_token: 'The device code has expired: request a new one.',
  authorization_pending: 'Nothing: the person has not confirmed the device yet.',
  slow_down: 'Poll less often: wait five seconds more between two requests.',
  invalid_token: 'Request a new token.',
};

/** Returns what the developer of a client should change after a rejected request, as a sentence. */
export function remedyFor({ error, description }: { error: string; description: string }): string {
  const known = BY_ERROR[error];
  const specific = BY_DESCRIPTION.find(([pattern]) => pattern.test(description));
  return specific?.[1] ?? known ?? 'Compare the request with the documentation of OpenID Connect of this service.';
}
