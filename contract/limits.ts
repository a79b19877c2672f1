/** Life of an emailed link and its code, in seconds. */
export const ATTEMPT_SECONDS = 600;
/** How long a link or code that was used gives the same browser the same token again, in seconds: for a double click. */
export const REPEAT_SECONDS = 10;
/** Days for which a registered domain is kept until its linked address signs in; the link in the email about it is valid as long. */
export const REGISTRATION_DAYS = 7;
/** Life of a website's token, in seconds. */
export const TOKEN_SECONDS = 3600;
/** How many times a code of an email may be entered. */
export const MAX_CODE_TRIES = 5;
/**
 * Of the emails to one mailbox in an hour, the number that is reserved, one for each network address, so that requests from a
 * few networks cannot use up all of them.
 */
export const RESERVED_MAILS = 4;
/**
 * How many times as many emails as one network address may a block of addresses request, an IPv6 /48 or an IPv4 /24. A reserve of the
 * same size has the first email of the hour of each of its addresses.
 */
export const MAIL_BLOCK_FACTOR = 8;
/**
 * Wrong codes in an hour beyond the limit in total, only from networks without a wrong code in that hour, so that an attacker cannot
 * disable codes for everyone.
 */
export const SPARE_WRONG_CODES = 200;
/** Characters of what a person may paste as a domain, which can be the address of a page. */
export const MAX_DOMAIN_INPUT = 2048;
/** Websites with an unproven domain that one account, or one linked address, may have. */
export const MAX_UNPROVEN_WEBSITES = 100;
/** Members and invitations of one website, without its linked address. */
export const MAX_WEBSITE_MEMBERS = 20;
/** How long an invitation to manage a website is valid. */
export const INVITATION_DAYS = 7;
/** Query parameters, form fields, cookies, or entries of one list header of a request. RFC 6265 §6.1 asks clients to support 50 cookies per domain. */
export const MAX_INPUT_ITEMS = 50;
/** Websites, and entries of the audit log, that one page of a list has at most. */
export const MAX_LIST_PAGE = 100;
/** The last page of a list that can be asked for. */
export const MAX_PAGE = 1_000_000;
/** Characters of a search in the documentation. */
export const MAX_DOCS_SEARCH = 200;
/** Characters of the admin password. */
export const MAX_ADMIN_PASSWORD = 512;
/** Applications that one account may have. */
export const MAX_APPLICATIONS = 50;
/** Redirect URIs of one client of OAuth, and logout URIs. */
export const MAX_CLIENT_URIS = 10;
/** Characters of one URI of a client. */
export const MAX_CLIENT_URI = 1024;
/** Active API keys that one account may have. */
export const MAX_API_KEYS = 50;
/** Passkeys that one address may have. */
export const MAX_PASSKEYS = 20;
/** How long ago the address may have been proven for what gives lasting access, such as a passkey or an API key, in seconds. */
export const PROOF_SECONDS = 600;
/** Life of the challenge of a passkey, in seconds. */
export const PASSKEY_CHALLENGE_SECONDS = 300;
/** Life of the nonce of a sign-in page for the Email Verification Protocol, in seconds. */
export const EVP_NONCE_SECONDS = 3600;
/** How long a browser does not offer a passkey again after one was declined, in seconds (30 days). */
export const PASSKEY_LATER_SECONDS = 30 * 86_400;
/** Remembered accounts that a browser keeps, newest first. */
export const MAX_REMEMBERED_ACCOUNTS = 5;
/** Life of the cookies that page scripts read, in seconds (3650 days). */
export const HINT_COOKIE_SECONDS = 3650 * 86_400;
/** The greatest max_age of a sign-in page, in seconds: as long as a browser remembers an account at most (400 days). */
export const MAX_SIGN_IN_AGE_SECONDS = 400 * 86_400;
/** Size of an icon, in bytes. */
export const MAX_ICON_BYTES = 5 * 1024 * 1024;
/** What an icon must be, as people read it. */
export const ICON_RULE = `JPG or PNG of at most ${MAX_ICON_BYTES / 1024 ** 2} MB`;
/** Media types of an icon. */
export const ICON_TYPES = ['image/jpeg', 'image/png'] as const;
/** How long an upload may pause, in seconds. */
export const UPLOAD_IDLE_SECONDS = 5;
/** How long the events of websites are kept, in seconds (7 days). */
export const MAX_EVENT_AGE_SECONDS = 7 * 86_400;
/** How long a call may wait for an event, in seconds. Below the 30 s after which some proxies end a request. */
export const MAX_EVENT_WAIT_SECONDS = 25;
/** How far back the log of a website can be read, in days. Steps that are not in the audit log are kept for MAX_EVENT_AGE_SECONDS. */
export const MAX_LOG_DAYS = 90;
/** Rows of a log that are saved in one file. */
export const MAX_LOG_EXPORT = 10_000;
/** How long a visitor who does not sign in again stays in the list of a website, in days. */
export const VISITOR_DAYS = 400;
/** Visitors that one page of the list has, and one response of an export at most. */
export const VISITORS_PAGE = 50;
export const MAX_EXPORTED_VISITORS = 5_000;
/** Size of the image behind a logo URL, in bytes. */
export const MAX_LOGO_BYTES = 1024 * 1024;
/** UTC days that statistics cover. */
export const STATS_DAYS = 30;
/** UTC days that the statistics of one website can cover. */
export const STATS_PERIODS = [7, 30, 90] as const;
export const MAX_STATS_DAYS = 90;

/** How long signing keys of the OpenID provider are in use, in seconds. */
export const SIGNING_KEY_SECONDS = {
  /** When keys are replaced: 90 days with the day before they sign. */
  age: 89 * 86_400,
  /** How long keys are published before they sign, since clients cache them. */
  publishedAhead: 86_400,
  /** How long keys stay published after they have stopped signing: longer than a token or an `id_token_hint` is in use. */
  kept: 30 * 86_400,
} as const;
