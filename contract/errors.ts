/**
 * Every error that the service can answer: its HTTP status, a sentence for a person and what to do next.
 * `oauth` is the name that RFC 6749 §5.2 gives the same fault, answered by the OAuth calls.
 */
export const errors = {
  bad_request: { status: 400, message: 'The request is not valid.', hint: 'Correct the named field and send it again.' },
  bad_json: { status: 400, message: 'The body is not a JSON object.', hint: 'Send a JSON object with Content-Type: application/json.' },
  too_many_fields: {
    status: 400,
    message: 'The request has too many parameters, fields, cookies or header entries.',
    hint: 'Send at most 50 of each.',
  },
  bad_email: { status: 400, message: 'Please enter a valid email address', hint: 'Give one address such as name@example.com.' },
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
    hint: 'Use exactly a redirect URI of the client.',
    oauth: 'invalid_request',
  },
  unknown_client: { status: 400, message: 'This client_id is not known.', hint: 'Check the client id.', oauth: 'invalid_client' },
  bad_code: {
    status: 400,
    message: 'That code is not right.',
    hint: 'Type the newest code from the mail, in the browser where you began; after five wrong codes ask for a new mail.',
  },
  bad_grant: { status: 400, message: 'The code is invalid, used or expired.', hint: 'Begin the sign-in again.', oauth: 'invalid_grant' },
  bad_link: {
    status: 400,
    message: 'This link is used, expired or not for this address.',
    hint: 'Check the address, or ask for a new mail.',
  },
  sign_in_needed: { status: 401, message: 'You are not signed in.', hint: 'Sign in and try again.' },
  bad_key: { status: 401, message: 'Invalid or expired credentials. Please try again with magic link.', hint: 'Ask for a sign-in mail.' },
  bad_api_key: {
    status: 401,
    message: 'This API key is not valid: unknown, revoked or ended.',
    hint: 'Send Authorization: Bearer with a key of the dashboard, or make a new one there.',
  },
  bad_token: {
    status: 401,
    message: 'The authentication token is invalid or expired. Please try logging in again.',
    hint: 'Ask for a new sign-in mail.',
  },
  bad_password: { status: 401, message: 'Invalid password', hint: 'Try again; the operator knows the password.' },
  admin_needed: { status: 401, message: 'The admin session is locked or has ended.', hint: 'Enter the admin password at /iladmin.' },
  admin_disabled: {
    status: 403,
    message: 'The admin dashboard is disabled.',
    hint: 'The operator sets ADMIN_PASSWORD, of at least 15 characters, and restarts the service.',
  },
  person_needed: {
    status: 403,
    message: 'An API key may not do this.',
    hint: 'Sign in and do it in the dashboard.',
  },
  test_key: { status: 403, message: 'A test key changes nothing.', hint: 'Use a live key.' },
  foreign_origin: {
    status: 403,
    message: 'This call is only for the pages of this service.',
    hint: 'Call it from the same origin, or from a server without an Origin header.',
  },
  domain_not_registered: {
    status: 403,
    message: 'Email authorisation for this domain is not supported.',
    hint: 'Register the domain first.',
  },
  site_recipients_used_up: {
    status: 403,
    message: 'This site has reached its daily number of visitors until its owner confirms it.',
    hint: 'Its owner signs in once with the linked address, or proves the domain.',
  },
  not_found: { status: 404, message: 'There is nothing here.', hint: 'Check the address.' },
  website_not_found: {
    status: 404,
    message: 'This website is not registered with your address.',
    hint: 'Check the list of your websites.',
  },
  application_not_found: { status: 404, message: 'You have no such application.', hint: 'Check the list of your applications.' },
  api_key_not_found: { status: 404, message: 'You have no such API key.', hint: 'Check the list of your API keys.' },
  device_not_found: { status: 404, message: 'You are not signed in on such a device.', hint: 'Reload the list of your devices.' },
  mail_not_found: { status: 404, message: 'This mail is not owed any more.', hint: 'Reload the list.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time.', hint: 'Send it again, without pauses.' },
  method_not_allowed: { status: 405, message: 'This address does not take that method.', hint: 'See /openapi.json for the methods.' },
  domain_taken: {
    status: 409,
    message: 'This domain is already registered.',
    hint: 'If it is yours, prove it: sign in, add it under My Websites and follow the DNS or file proof.',
  },
  too_many: { status: 409, message: 'You have as many of these as an account may have.', hint: 'Delete one that you do not need.' },
  confirmation_needed: {
    status: 409,
    message: 'Confirm this sign-in first.',
    hint: 'Send the same call with confirm: true once the person agreed.',
  },
  bad_upload: {
    status: 400,
    message: 'This upload address is not valid, has ended or was used already.',
    hint: 'Ask for a new upload address and send the file once.',
  },
  bad_icon: { status: 422, message: 'This file is no JPG or PNG image.', hint: 'Choose a JPG or PNG of at most 5 MB.' },
  icon_too_large: { status: 413, message: 'File size must be less than 5MB', hint: 'Choose a smaller image.' },
  too_large: { status: 413, message: 'The request is too large.', hint: 'Send less than 16 KB.' },
  headers_too_large: {
    status: 431,
    message: 'The headers of the request are too large.',
    hint: "Send less than 16 KB of headers. In a browser, delete this site's cookies.",
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
    hint: 'Try again; if it stays, give the operator the reference number.',
    oauth: 'server_error',
  },
  unavailable: {
    status: 503,
    message: 'The service is not available for a moment.',
    hint: 'Try again in a few seconds.',
    oauth: 'temporarily_unavailable',
  },
} as const satisfies Record<string, ErrorKind>;

type ErrorKind = { status: number; message: string; hint: string; oauth?: string };

export type ErrorCode = keyof typeof errors;

/** The JSON body of every answer that is not a success. `error` is the sentence; on OAuth calls it is RFC 6749's name and the sentence is `error_description`. */
export type ErrorBody = { error: string; code: ErrorCode; hint: string; error_description?: string; field?: string; reference?: string };

/** A fault with a code of the catalogue; the one place that answers errors turns it into status and body. */
export class Fault extends Error {
  readonly code: ErrorCode;
  /** Input field the fault is about. */
  readonly field?: string;
  /** Seconds to wait, for `Retry-After`. */
  readonly retryAfter?: number;
  /** What to do next, in place of the catalogue's hint. */
  readonly hint?: string;

  constructor(code: ErrorCode, details: { message?: string; field?: string; retryAfter?: number; hint?: string; cause?: unknown } = {}) {
    super(details.message ?? errors[code].message, { cause: details.cause });
    this.name = 'Fault';
    this.code = code;
    this.field = details.field;
    this.retryAfter = details.retryAfter;
    this.hint = details.hint;
  }

  get status(): number {
    return errors[this.code].status;
  }
}
