import type { ErrorCode } from './errors.ts';
import type { LanguageCode } from './languages.ts';
import type { IdentityScope, ResourceScope } from './scopes.ts';
import type { AttemptStatus, DestinationParameters } from './signin.ts';

/** Stands in the addresses of a built page for the language of the visitor. */
export const VISITOR_LANGUAGE = 'LANGUAGE';
/** Stands in the addresses of a built page for the domain of its path. */
export const DOMAIN_OF_PATH = 'DOMAIN';

/** The home page of the portal. */
export const PORTAL_HOME = '/developer';

/** Stands for the origin of the service in the built texts of the documentation. */
export const ORIGIN_PLACEHOLDER = 'https://origin.invalid';

/** The beginning of the paths of all pages of websites. */
export const WEBSITES_FOLDER = '/dashboard/websites/';

/** Returns the path of a website in the portal, which leads to its set-up until that is complete. */
export const websiteHome = (domain: string) => `${WEBSITES_FOLDER}${encodeURIComponent(domain)}`;

/** The texts of a page that search engines may list; the title without the name of the product. `markdown`: the path of the page as Markdown. */
export type PageTexts = { title: string; description: string; markdown?: string };

/** A page of the built web app. dist/web/pages.json has them by their path, in which `:domain` stands for the domain of a website. */
export type BuiltPage =
  | { entry: 'signin' }
  /** A page that the service renders, the same for everyone. */
  | { entry: 'static'; texts: PageTexts }
  | {
      entry: 'portal';
      texts?: PageTexts;
      /** The scripts that it loads beside those of every page, as paths without the first slash. */
      scripts: string[];
      /** The addresses that it fetches first, with VISITOR_LANGUAGE. */
      calls: string[];
      /** The addresses that it fetches first for a signed-in developer, with DOMAIN_OF_PATH. */
      developerCalls: string[];
    };

/** The rules of a forward_url that it may break. */
export type ForwardUrlRule =
  | 'too_long'
  | 'characters'
  | 'not_absolute'
  | 'not_plain'
  | 'this_machine'
  | 'not_https'
  | 'not_domain'
  | 'has_token'
  | 'repeated';

/** Id of the JSON data block in a sign-in page that contains a SignInBoot. */
export const BOOT_ELEMENT = 'boot';

/** Data by which the service renders a sign-in page. The page contains it, so that the script renders the same and takes over. */
export type SignInBoot = {
  language: LanguageCode;
  /** Path and query of the page; of a page that a form post renders again, those of its GET. */
  path: string;
  search: string;
  /** The accounts of this browser, newest first, for display. `timestamp`: Unix milliseconds of the latest sign-in, or 0. */
  accounts: { email: string; timestamp: number }[];
  /** Text by key (`auth.welcome`, …) in `language`. */
  texts: Record<string, string>;
  /** What the visitor signs in to, by the forward_url or link of the page. */
  target:
    | { kind: 'portal' }
    /**
     * `host` as A-label, `displayHost` decoded; where they differ the page shows both. `name`: of a website whose domain is proven,
     * shown beside its host. `accent`: the color of its buttons.
     */
    | { kind: 'site'; host: string; displayHost: string; iconUrl: string | null; name?: string | null; accent?: string | null }
    /**
     * A client of OpenID Connect. `host`: of the redirect URI in use, or its scheme where that is one of a program on this device, such
     * as `com.example.app`; empty for a program on another device. The calls domainAuth and validateKey are sent with `interaction`
     * instead of a forward_url.
     */
    | { kind: 'application'; name: string; host: string; displayHost: string; program?: 'here' | 'elsewhere'; interaction: string }
    /**
     * `back`: the origin of the forward_url, when a page may link to it. `max_age`, `require`: this parameter has a wrong value.
     * `rule`: the one that the forward_url breaks. `domain`: what the owner of the host can register.
     */
    | {
        kind: 'unsupported';
        host: string;
        displayHost: string;
        reason: 'not_registered' | 'bad_forward_url' | 'max_age' | 'require';
        back: string | null;
        rule?: ForwardUrlRule;
        domain?: string;
      };
  /** On the pages of steps 1 and 2. */
  steps?: SignInSteps;
  /** On the same pages, unless passkeys cannot be used: a challenge in base64url; `known`: this browser has used a passkey. */
  passkey?: { challenge: string; rpId: string; known: boolean };
  /** On the same pages where emails stay in the built-in inbox. */
  inbox?: true;
  /** On the same pages where the Email Verification Protocol is on: what the browser's token has to be for. */
  verification?: { nonce: string };
  /** The visitor is signed in by the link of an email, and may add a passkey before going on to `url`. */
  offer?: { email: string; options: PasskeyCreationOptions; url: string };
  /** The visitor has proven the address by an email to a website that accepts only a passkey, and has to create one. */
  addPasskey?: RequiredPasskey;
  /** Why the form post that this page responds to was refused. */
  failure?: FormFailure;
  /**
   * The request failed; path and query are those of the page where the visitor can go on. `reference`: the number of an error of the
   * service in its log; `retryAfter`: seconds.
   */
  error?: { code: ErrorCode; reference?: string; retryAfter?: number };
  /** The response to a form post whose redirect leaves this origin, which `form-action` of the page's policy would not allow. */
  leaving?: { url: string };
  /** On /auth/link: the emailed link that was opened. */
  link?: LinkBoot;
  /**
   * The page of an emailed link first offers to prove with it that the mailbox of a refused request for an email is the person's.
   * `email`: what the field contains; `back`: the page that requested the email.
   */
  confirmBrowser?: { email: string; back: string };
  /** On the pages below /oauth/: the step of the authorization request, sign-out or device flow. */
  authorization?: AuthorizationStep;
};

/** The paths of the service's sign-in pages, which emails and websites have. */
export const SIGN_IN_PATHS = {
  signIn: '/auth',
  signInOfSite: '/domain-auth',
  callback: '/auth/callback',
  legacyCallback: '/legacy-auth',
  link: '/auth/link',
} as const;

/**
 * The paths of a website's sign-in, unless it has others: where visitors begin, where they come back with a token, and a page for those
 * who are signed in.
 */
export const WEBSITE_PATHS = { login: '/login', callback: '/auth/callback', account: '/account' } as const;

/** The field of step 1 that the browser fills in with a token of the Email Verification Protocol. */
export const VERIFICATION_FIELD = 'email_verification_token';

/** What the page needs that adds a passkey, which then signs in where nothing else is accepted. */
export type RequiredPasskey = {
  email: string;
  /** Null where passkeys cannot be used. */
  options: PasskeyCreationOptions | null;
  /** Where the new passkey signs in. */
  forwardUrl: string;
  /** The sign-in page. */
  again: string;
  /** The id of an authorization request, where the new passkey signs in instead of at `forwardUrl`. */
  interaction?: string;
};

/** PublicKeyCredentialCreationOptionsJSON of WebAuthn Level 3. */
export type PasskeyCreationOptions = Record<string, unknown>;

/** What a feature of the service decides about a sign-in page. The rest follows from the request and the language. */
export type SignInPage = Omit<SignInBoot, 'texts' | 'path' | 'search' | 'accounts'> & { path?: string; search?: string };

/** The calls of a sign-in page that have a next page. */
export type PageCall =
  | 'domainAuth'
  | 'authorize'
  | 'emailCode'
  | 'validateKey'
  | 'verifiedEmailSignIn'
  | 'confirmLink'
  | 'confirmBrowser'
  | 'decideInteraction';

/**
 * What the response to a call of a sign-in page contains besides, for its header `Prefer: page="ADDRESS"` (RFC 7240 §2): the page that
 * follows, or the URL at which the sign-in goes on. A refused call has the page that shows it again.
 */
export type NextPage = { page: SignInPage; leave?: undefined } | { page?: undefined; leave: string };

/** What the page of an emailed link shows. */
type LinkBoot =
  /** The page prompts for the address and sends it with the link's secret, which is in its own URL. `hasCode`: the email has a code too. */
  | { state: 'open'; maskedEmail: string; hasCode: boolean }
  /** The link of a native client: the page redirects to `redirectUrl`. */
  | { state: 'native'; redirectUrl: string }
  /** A sign-in to an application that began in another browser, in which the code of the email has to be entered. Nothing was consumed. */
  | { state: 'other_browser'; maskedEmail: string }
  /**
   * The link was used, and has signed in this browser or a program. `email`: masked where this browser did not enter it; `again`: where to
   * continue; null for a program.
   */
  | { state: 'signed_in'; email: string; again: string | null }
  /** `gone`: the website was registered again after the email was sent. */
  | ({ state: 'used' | 'expired' | 'gone' | 'invalid' } & WaysOn);

/**
 * The ways on from a link that has ended. `again`: where to start over, in the browser that requested the email with its address. `resend`:
 * in that browser alone, the form that requests another email to the address and for the destination of the first one.
 */
export type WaysOn = { again: string; resend?: { maskedEmail: string; form: BootForm } };

/** A form that the page submits: `fields` are hidden, and the page adds what the person enters or chooses. */
export type BootForm = { action: string; fields: Record<string, string> };

/**
 * One step of an authorization request (`target` is the application), of a sign-out or of the device flow (`target` is the
 * application where it is known, else the portal).
 */
export type AuthorizationStep =
  /**
   * GET /oauth/interaction/UID. `email`: login_hint. `chooseAccount`: the application asks for a choice of account, so the page shows
   * the remembered accounts first and signs in with none of them by itself.
   */
  | { step: 'sign_in'; email: string | null; chooseAccount: boolean }
  /** GET /oauth/interaction/UID: the person is signed in; decided by the call decideInteraction. `scopes`: those that are not granted yet. */
  | { step: 'consent'; email: string; scopes: (IdentityScope | ResourceScope)[] }
  /** The interaction has ended or belongs to another browser. */
  | { step: 'expired' }
  /** A request that cannot be returned to its client. `error`: of RFC 6749 §4.1.2.1; `description`: for its developer, in English. */
  | { step: 'error'; error: string; description: string | null; reason: 'client' | 'redirect_uri' | 'other' }
  /** GET /oauth/device: a form post of `fields` and `user_code`. `userCode`: what was entered, or the device's link contains. */
  | { step: 'device_code'; form: BootForm; userCode: string | null; failure: 'unknown' | 'expired' | 'used' | 'aborted' | null }
  /** The device shows `userCode`: a form post of `fields`, with `abort=yes` to refuse. */
  | { step: 'device_confirm'; form: BootForm; userCode: string }
  | { step: 'device_done' }
  /**
   * GET /oauth/logout: `fields` and `logout=yes` are sent by fetch as a form with Accept: application/json; the response is
   * `{ redirectUrl }`. Without `logout` only the application is signed out.
   */
  | { step: 'sign_out'; form: BootForm }
  | { step: 'signed_out' };

/** An attempt of the browser that receives it. */
export type OwnAttempt = {
  email: string;
  status: AttemptStatus;
  /** Until the link and the code expire. */
  secondsLeft: number;
  /** Of its email. */
  id: string;
  /** Of an attempt with PKCE, whose verifier a script has stored: its state. The code of any other attempt needs no script. */
  state: string | null;
};

/** The forms of the pages. `address`: of step 1; `link`: of a link that was opened in another browser; `browser`: of a link that confirms its browser. */
export type FormName = 'address' | 'code' | 'resend' | 'account' | 'link' | 'browser' | 'consent';

/**
 * Why a form post was refused. `no_saved_login`: the remembered account has no key; `needs_script`: the code of an attempt with PKCE
 * was posted by a form.
 */
export type FormFailure = {
  form: FormName;
  code: ErrorCode | 'no_saved_login' | 'needs_script';
  /** The field of the call to which the error belongs. */
  field?: string;
  /** Seconds. */
  retryAfter?: number;
  /** Of the forms `link` and `browser`: the address that was typed; of `code`: what a text has of a code, where a part is missing. */
  typed?: string;
};

/** The two steps of a sign-in, as the service renders them. */
export type SignInSteps = {
  /** The path of the page, and of the form of step 1. The other forms are below it: `/code`, `/resend`, `/account`, `/forget`. */
  base: string;
  /** The query of the page and of its forms without `step`, with its `?`. */
  query: string;
  /** What the calls of the page are sent with; null: the sign-in leads to the portal. */
  destination: DestinationParameters | null;
  /** `signed_in`: offers the session of this browser instead of step 1. */
  step: 'address' | 'code' | 'signed_in';
  /** What the field of step 1 contains. */
  email: string;
  /** The newest attempt of this browser for the target. At step 1 only an open one; at step 2 never null. */
  attempt: OwnAttempt | null;
  /** Step 2 was requested, and there is no attempt of this browser for it. */
  attemptMissing: boolean;
  /** The address of this browser's session. */
  signedInAs: string | null;
  /** The remembered accounts that may sign in without a new proof of their address; the others only fill it in. Unset: all. */
  oneClick?: readonly string[];
  /** The website accepts only a passkey. */
  passkeyOnly?: true;
};
