import { EMAIL_MESSAGES } from './emails.ts';
import { ICON_RULE, MAX_INPUT_ITEMS } from './limits.ts';

/**
 * Every error of the API: its HTTP status, a sentence for people and what to do next. `oauth` is the error code of RFC 6749 §5.2
 * that OAuth calls return for it.
 */
export const errors = {
  bad_request: { status: 400, message: 'The request is not valid.', hint: 'Correct the named field and send it again.' },
  bad_json: { status: 400, message: 'The body is not a JSON object.', hint: 'Send a JSON object with Content-Type: application/json.' },
  too_many_fields: {
    status: 400,
    message: 'The request has too many parameters, fields or header entries.',
    hint: `Send at most ${MAX_INPUT_ITEMS} of each.`,
  },
  bad_email: { status: 400, message: EMAIL_MESSAGES.bad_email, hint: 'Give one address such as name@example.com.' },
  international_email: {
    status: 400,
    message: EMAIL_MESSAGES.international_email,
    hint: 'Emails go to addresses in ASCII only. The domain may have any letters.',
  },
  bad_domain: {
    status: 400,
    message: 'Please enter a valid domain (e.g., example.com)',
    hint: 'Give the root domain only: no protocol, no subdomain, no path.',
  },
  bad_forward_url: {
    status: 400,
    message: 'This forward_url cannot be used.',
    hint: 'Give an absolute https URL on a registered domain, without user info and without a token parameter.',
  },
  bad_redirect_uri: {
    status: 400,
    message: 'This redirect_uri is not registered for the client.',
    hint: 'Use one of the registered redirect URIs of the client, unchanged.',
    oauth: 'invalid_request',
  },
  unknown_client: { status: 400, message: 'This client_id is unknown.', hint: 'Check the client id.', oauth: 'invalid_client' },
  bad_code: {
    status: 400,
    message: 'This code is wrong.',
    hint: 'Enter the code from the newest email, in the browser where you started; after five wrong codes request a new email.',
  },
  bad_grant: { status: 400, message: 'The code is invalid, used or expired.', hint: 'Start the sign-in again.', oauth: 'invalid_grant' },
  verifiable_email: {
    status: 409,
    message: 'The browser may be able to verify this address. No email was sent yet.',
    hint: 'Send the token of the browser, or the same request without `verifiable`.',
  },
  bad_link: {
    status: 400,
    message: 'This link was used, has expired or is for another address.',
    hint: 'Check the address, or request a new email.',
  },
  sign_in_needed: { status: 401, message: 'You are not signed in.', hint: 'Sign in and try again.' },
  bad_key: { status: 401, message: 'Invalid or expired credentials. Please try again with magic link.', hint: 'Request a sign-in email.' },
  bad_passkey: {
    status: 401,
    message: 'This passkey was not accepted.',
    hint: 'Request a sign-in email, or use another passkey.',
  },
  unknown_passkey: {
    status: 401,
    message: 'This passkey is unknown: it was removed, or never added.',
    hint: 'Request a sign-in email. You can remove the passkey from your device.',
  },
  passkey_expired: {
    status: 401,
    message: 'The page was open too long for a passkey, or the passkey was used in another browser.',
    hint: 'Choose the passkey again, or request a sign-in email.',
  },
  bad_api_key: {
    status: 401,
    message: 'This API key is not valid: it is unknown, revoked or expired.',
    hint: 'Send Authorization: Bearer with an API key from the dashboard, where you can also create a new one.',
  },
  bad_access_token: {
    status: 401,
    message: 'This access token is not valid here: it is expired, revoked, or issued for another resource.',
    hint: 'Request a new one for this resource, with the refresh token or by signing in again.',
  },
  bad_token: {
    status: 401,
    message: 'The authentication token is invalid or expired. Please try logging in again.',
    hint: 'Request a new sign-in email.',
  },
  bad_password: { status: 401, message: 'Invalid password', hint: 'Try again; the operator knows the password.' },
  admin_needed: { status: 401, message: 'The admin session is closed or has expired.', hint: 'Enter the admin password at /iladmin.' },
  sign_in_too_old: {
    status: 403,
    message: 'The address was proven too long ago for this sign-in.',
    hint: 'Request a sign-in email, or sign in with a passkey.',
  },
  passkey_required: {
    status: 403,
    message: 'Only a passkey is accepted for this sign-in.',
    hint: 'Sign in with a passkey. Without one, request a sign-in email: after its link or code you can create one.',
  },
  admin_disabled: {
    status: 403,
    message: 'The admin dashboard is disabled.',
    hint: 'The operator can enable it: set ADMIN_PASSWORD to at least 15 characters and restart the service.',
  },
  not_table_owner: {
    status: 403,
    message: 'The service does not own the audit log, so that it cannot remove an address from it.',
    hint: 'Run `emailauth db erase` with the DATABASE_URL of the owner of the tables.',
  },
  insufficient_scope: {
    status: 403,
    message: 'The API key or access token does not have the scope that this needs.',
    hint: 'Request an access token with this scope, or create an API key that has it.',
  },
  person_needed: {
    status: 403,
    message: 'An API key may not do this.',
    hint: 'Sign in and do it in the dashboard.',
  },
  test_key: { status: 403, message: 'A test key cannot change anything.', hint: 'Use a live key.' },
  foreign_origin: {
    status: 403,
    message: 'This call is only for the pages of this service.',
    hint: 'Call it from the same origin, or from a server without an Origin header.',
  },
  owner_needed: {
    status: 403,
    message: 'Only an owner of this website may do this.',
    hint: 'Ask an owner, who can also make you one: the team of the website lists them.',
  },
  domain_not_registered: {
    status: 403,
    message: 'Email authorisation for this domain is not supported.',
    hint: 'Register the domain first.',
  },
  site_recipients_used_up: {
    status: 403,
    message: 'No more visitors can sign in to this website today: until its owner confirms it, their number is limited.',
    hint: 'Its owner can sign in once with the linked address, or verify the domain.',
  },
  proof_needed: {
    status: 403,
    message: 'This needs a proof of your address within the last ten minutes.',
    hint: 'Sign in again by email or with a passkey, in a program with `emailauth login`, and then repeat it.',
  },
  not_found: { status: 404, message: 'There is nothing here.', hint: 'Check the address.' },
  website_not_found: {
    status: 404,
    message: 'This website is not registered with your address.',
    hint: 'Check the list of your websites.',
  },
  member_not_found: {
    status: 404,
    message: 'This address is not in the team of the website.',
    hint: 'Reload the team of the website.',
  },
  invitation_not_found: {
    status: 404,
    message: 'This invitation was accepted, withdrawn or has expired.',
    hint: 'Check the list of your websites, or ask an owner of the website to invite you again.',
  },
  application_not_found: { status: 404, message: 'You have no application with this id.', hint: 'Check the list of your applications.' },
  connection_not_found: {
    status: 404,
    message: 'You have no connected application with this id.',
    hint: 'Reload the list of your connected applications.',
  },
  api_key_not_found: { status: 404, message: 'You have no API key with this id.', hint: 'Check the list of your API keys.' },
  passkey_not_found: { status: 404, message: 'This passkey is not one of yours.', hint: 'List your passkeys again.' },
  device_not_found: { status: 404, message: 'You are not signed in on a device with this id.', hint: 'Reload the list of your devices.' },
  mail_not_found: { status: 404, message: 'This email is no longer pending.', hint: 'Reload the list.' },
  interaction_ended: {
    status: 404,
    message: 'This sign-in has ended.',
    hint: 'Go back to the application and sign in there again.',
  },
  request_timeout: { status: 408, message: 'The request did not arrive in time.', hint: 'Send it again, without pauses.' },
  method_not_allowed: { status: 405, message: 'This address does not support that method.', hint: 'See /openapi.json for the methods.' },
  domain_taken: {
    status: 409,
    message: 'This domain is already registered.',
    hint: 'If it is yours, verify it: sign in, add it under My Websites and follow the DNS or file proof.',
  },
  already_member: {
    status: 409,
    message: 'This address manages the website already.',
    hint: 'Change its role in the team of the website.',
  },
  unproven_domain: {
    status: 409,
    message: 'This is only for a website with a verified domain.',
    hint: 'Verify the domain by DNS or by a file, and then try again.',
  },
  not_given_back: {
    status: 409,
    message: 'You added or verified this website yourself.',
    hint: 'Delete it if you do not need it.',
  },
  websites_undecided: {
    status: 409,
    message: 'The address owns websites.',
    hint: 'Name the ones to delete in deleteWebsites, or give transferTo an address that gets them.',
  },
  no_client_secret: {
    status: 409,
    message: 'This application has no client secret.',
    hint: 'Change its authentication to secret: the response contains the new secret.',
  },
  secret_rotated: {
    status: 409,
    message: 'The client secret was rotated already, and the former one is still valid.',
    hint: 'Use the newest secret and wait until the former one expires, or rotate with graceHours 0, which ends both.',
  },
  too_many: { status: 409, message: 'Your account has the maximum number of these.', hint: 'Delete one that you do not need.' },
  confirmation_needed: {
    status: 409,
    message: 'Confirm this sign-in first.',
    hint: 'Send the same call with confirm: true once the person has agreed.',
  },
  bad_upload: {
    status: 400,
    message: 'This upload address is not valid, has expired or was already used.',
    hint: 'Request a new upload address and send the file once.',
  },
  bad_icon: { status: 422, message: 'This file is not a JPG or PNG image.', hint: `Choose a ${ICON_RULE}.` },
  bad_logo: {
    status: 422,
    message: 'The logo could not be loaded.',
    hint: 'Open the address in a private window of your browser: it has to show the image, without a sign-in.',
  },
  icon_too_large: { status: 413, message: 'File size must be less than 5MB', hint: 'Choose a smaller image.' },
  too_large: { status: 413, message: 'The request is too large.', hint: 'Send less than 16 KB.' },
  headers_too_large: {
    status: 431,
    message: 'The headers of the request are too large.',
    hint: "Send less than 16 KB of headers. In a browser, delete this site's cookies.",
  },
  precondition_failed: { status: 412, message: 'The file has changed.', hint: 'Get it again, without If-Match and If-Unmodified-Since.' },
  range_not_satisfiable: {
    status: 416,
    message: 'The file is shorter than the range.',
    hint: 'Ask for a range that Content-Range allows.',
  },
  unsupported_media_type: { status: 415, message: 'The body must be JSON.', hint: 'Send Content-Type: application/json.' },
  not_proven: {
    status: 422,
    message: 'The proof was not found yet.',
    hint: 'DNS changes can take some minutes; check the record and try again.',
  },
  rate_limited: { status: 429, message: 'Too many requests.', hint: 'Wait for the time named in Retry-After.', oauth: 'slow_down' },
  internal: {
    status: 500,
    message: 'Something went wrong on our side.',
    hint: 'Try again; if it persists, send the operator the reference number.',
    oauth: 'server_error',
  },
  unavailable: {
    status: 503,
    message: 'The service is temporarily unavailable.',
    hint: 'Try again in a few seconds.',
    oauth: 'temporarily_unavailable',
  },
} as const satisfies Record<string, ErrorKind>;

type ErrorKind = { status: number; message: string; hint: string; oauth?: string };

export type ErrorCode = keyof typeof errors;

/** The JSON body of every error response. `error` is the sentence; on OAuth calls it is the code of RFC 6749 and `error_description` the sentence. */
export type ErrorBody = {
  error: string;
  code: ErrorCode;
  hint: string;
  error_description?: string;
  field?: string;
  reference?: string;
  /** Of `sign_in_needed` and `insufficient_scope`: the scopes that are missing, separated by spaces (RFC 6750 §3). */
  scope?: string;
  /** Of `bad_code`: how many more codes can be tried for the email. */
  triesLeft?: number;
};

/**
 * Returns whether the service responded with this error. By name: importing the class ApiError would load every call of the API, which
 * `emailauth --help` does not need.
 */
export const hasCode = (error: unknown, code: ErrorCode): error is Error =>
  error instanceof Error && error.name === 'ApiError' && 'code' in error && error.code === code;

/** An error with a code of the table above. server/platform/http/errors.ts turns it into status and body. */
export class Fault extends Error {
  readonly code: ErrorCode;
  /** The input field that is wrong. */
  readonly field?: string;
  /** Seconds to wait, for `Retry-After`. */
  readonly retryAfter?: number;
  /** What to do next, instead of the hint of the table. */
  readonly hint?: string;
  /** The scopes that are missing, separated by spaces. */
  readonly scope?: string;
  /** How many more codes can be tried for an email. */
  readonly triesLeft?: number;

  constructor(
    code: ErrorCode,
    details: {
      message?: string;
      field?: string;
      retryAfter?: number;
      hint?: string;
      scope?: string;
      triesLeft?: number;
      cause?: unknown;
    } = {},
  ) {
    super(details.message ?? errors[code].message, { cause: details.cause });
    this.name = 'Fault';
    this.code = code;
    this.field = details.field;
    this.retryAfter = details.retryAfter;
    this.hint = details.hint;
    this.scope = details.scope;
    this.triesLeft = details.triesLeft;
  }

  get status(): number {
    return errors[this.code].status;
  }
}
