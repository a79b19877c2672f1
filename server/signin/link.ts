import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { languageOf } from '../../contract/languages.ts';
import { ATTEMPT_SECONDS, MAX_CODE_TRIES } from '../../contract/limits.ts';
import type { SignInPage } from '../../contract/pages.ts';
import type { Parsed } from '../../contract/routes.ts';
import { mailboxOf } from '../../contract/rules.ts';
import { type Browser, type BrowserRequest, browserOf, createAuthKey, deviceLabelOf, rememberAccount } from '../accounts/browser.ts';
import type { Database } from '../db/database.ts';
import type { EventRecorder } from '../events/recorder.ts';
import type { Cookies } from '../http/cookies.ts';
import { queryOf } from '../http/reading.ts';
import { signIns } from '../metrics/metrics.ts';
import { digest, isRandomSecret } from '../secrets.ts';
import { lifeOf, sameRegistration } from './conditions.ts';
import type { AttemptOpener, SignedIn } from './opener.ts';
import type { AttemptSecrets } from './secrets.ts';

const COUNT_ADDRESS_TRY = `
update sign_in_attempts a set secret_tries = secret_tries + 1
where id = $1 and consumed_at is null and secret_tries < ${MAX_CODE_TRIES}
returning email, case when ${sameRegistration('a.domain', `a.expires_at - interval '${ATTEMPT_SECONDS} seconds'`)} then domain end as domain`;

const COUNT_BROWSER_TRY = `
update sign_in_attempts a set secret_tries = secret_tries + 1
where id = $1 and secret_tries < ${MAX_CODE_TRIES} and expires_at - ${lifeOf('a')} > now() - interval '1 hour' returning email`;

// Like the row that a logout leaves: the rate limits know the device by it, and it signs nobody in.
const KNOW_DEVICE = `
insert into remembered_keys (selector, device, label, email, verifier, expires_at)
values ($1, $2, $3, $4, '', now() + interval '400 days') on conflict (device, email) do nothing`;

const SIGNED_IN_BY_LINK = signIns.with('link', 'signed_in');
/** The page asks for the address, or says that the link has ended. */
const LINK_NOT_OPENED = signIns.with('link', 'page');

/** The attempt for which an address was entered. */
type Tried = { email: string; domain: string | null };

type Parts = { core: Database['core']; secrets: AttemptSecrets; opener: AttemptOpener; events: Pick<EventRecorder, 'record'> };

/** The links of sign-in emails. */
export class SignInLinks {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Opens a link in the browser that requested it. Returns null, and consumes nothing, for any other browser or a link that ended. */
  async open(link: string, browser: Browser): Promise<SignedIn | null> {
    const attempt = this.#parts.secrets.readLink(link);
    if (!attempt || attempt.kind === 'app') return null;
    return this.#parts.opener.open(attempt.id, browser, { browser: digest(browser.attempt), email: null });
  }

  /** Opens a link in any browser, after its address was given. @throws Fault bad_link */
  async confirm({ t, email }: Parsed<'confirmLink'>, browser: Browser): Promise<SignedIn> {
    const attempt = this.#parts.secrets.readLink(t);
    // A sign-in to a client of OpenID Connect continues only in the browser in which its authorization request waits.
    if (!attempt || attempt.kind === 'app' || attempt.kind === 'oidc') throw new Fault('bad_link');
    // The try is counted before anything is compared.
    const { core, opener, events } = this.#parts;
    const counted = await core.query<Tried>({ name: 'signin-address-try', text: COUNT_ADDRESS_TRY, values: [attempt.id] });
    const [tried] = counted.rows;
    const signedIn = tried && (await opener.open(attempt.id, browser, { browser: null, email }));
    if (signedIn) return signedIn;
    if (tried?.domain && tried.email !== email) await events.record({ domain: tried.domain, kind: 'wrong_address', email: tried.email });
    throw new Fault('bad_link');
  }

  /**
   * Makes the browser known to the rate limits of a mailbox, by a link that was sent to the mailbox within the last hour, even one
   * that was used, expired or was requested in another browser. Nobody is signed in, and the link stays as it is.
   * @throws Fault bad_link
   */
  async confirmBrowser({ t, email }: Parsed<'confirmBrowser'>, browser: Browser): Promise<void> {
    const { core, secrets } = this.#parts;
    const attempt = secrets.readLink(t);
    const tried =
      attempt && (await core.query<{ email: string }>({ name: 'signin-browser-try', text: COUNT_BROWSER_TRY, values: [attempt.id] }));
    const sentTo = tried?.rows[0]?.email;
    // The email may have gone to another spelling of the address; the limits count the mailbox.
    if (sentTo === undefined || mailboxOf(sentTo) !== mailboxOf(email))
      throw new Fault('bad_link', { message: 'This email was not sent to this address, or it is older than an hour.' });
    const { selector } = createAuthKey();
    const values = [selector, digest(browser.device), await deviceLabelOf(browser.userAgent), email];
    await core.query({ name: 'signin-know-device', text: KNOW_DEVICE, values });
  }
}

/**
 * Returns the listener of GET /auth/link?t=…, the only GET that consumes anything, and only in the browser that requested the
 * email. HEAD, prefetches and every other browser get a page.
 */
export function linkListener(parts: {
  links: SignInLinks;
  /** @param mayOpen whether the request would open the link in the right browser */
  describeLink(secret: string, mayOpen: boolean, cookies: Cookies): Promise<SignInPage>;
  browserRequestOf(request: IncomingMessage, response: ServerResponse): BrowserRequest;
  sendPage(response: ServerResponse, page: SignInPage): void;
  /** Headers of the redirect. */
  headers: Record<string, string>;
}) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { t, language } = queryOf(request);
    const secret = typeof t === 'string' ? t : '';
    const browserRequest = parts.browserRequestOf(request, response);
    const { cookies } = browserRequest;
    const mayOpen = request.method === 'GET' && !isPrefetch(request);
    const signedIn = mayOpen && isRandomSecret(cookies.get('attempt')) ? await parts.links.open(secret, browserOf(browserRequest)) : null;
    if (!signedIn) {
      if (mayOpen) LINK_NOT_OPENED.value += 1;
      // The page is in the language of the email, unless another one is chosen on it.
      const page = await parts.describeLink(secret, mayOpen, cookies);
      parts.sendPage(response, language === undefined ? page : { ...page, language: languageOf(language) });
      return;
    }
    SIGNED_IN_BY_LINK.value += 1;
    rememberAccount(cookies, signedIn.email, signedIn.authKey);
    response.writeHead(303, {
      ...parts.headers,
      // Express would re-encode the URL. A header is latin1, so this sends the bytes of the forward_url unchanged.
      Location: Buffer.from(signedIn.redirectUrl).toString('latin1'),
      'Content-Length': 0,
    });
    response.end();
  };
}

function isPrefetch({ headers }: IncomingMessage): boolean {
  const purpose = `${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''} ${headers['x-purpose'] ?? ''} ${headers['x-moz'] ?? ''}`;
  return /prefetch|prerender|preview/i.test(purpose);
}
