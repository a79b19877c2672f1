import type { Parsed } from '../../../contract/calls.ts';
import { mailboxOf, maskEmail } from '../../../contract/emails.ts';
import { Fault } from '../../../contract/errors.ts';
import type { LanguageCode } from '../../../contract/languages.ts';
import { MAX_CODE_TRIES, REPEAT_SECONDS } from '../../../contract/limits.ts';
import { PORTAL_HOME, SIGN_IN_PATHS, type SignInBoot, type WaysOn } from '../../../contract/pages.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../../contract/pkce.ts';
import type { Destination } from '../../../contract/signin.ts';
import { returnPageOf } from '../../../contract/urls.ts';
import { type EventRecorder, type EventSink, subjectOf } from '../../activity/recorder.ts';
import { type Applications, isApplicationId } from '../../developers/applications.ts';
import { type Browser, createAuthKey, deviceLabelOf } from '../../developers/browser.ts';
import { notBeingSignedOut } from '../../permissions/sign-outs.ts';
import type { Database } from '../../platform/db/database.ts';
import type { ReceivedCookies } from '../../platform/http/cookies.ts';
import { digest } from '../../platform/secrets.ts';
import { clientActive, endedBySibling, LIFE, lifeOf, sameRegistration, stillAwaited } from '../attempt-conditions.ts';
import { type AttemptKind, type AttemptSecrets, hasCode } from '../attempts.ts';
import { knowDevice } from '../complete.ts';
import {
  isRedirectOf,
  pageUrl,
  pageUrlOf,
  redirectHostOf,
  SHOWN_WEBSITE,
  type ShownWebsite,
  siteTarget,
  withCode,
} from '../destination.ts';
import type { AttemptOpener, OpeningResult } from '../opener.ts';
import { hasRequested } from '../request.ts';

const COUNT_ADDRESS_TRY = `
update sign_in_attempts a set secret_tries = secret_tries + 1
where id = $1 and consumed_at is null and secret_tries < ${MAX_CODE_TRIES}
returning email, case when ${sameRegistration('a.domain', `a.expires_at - ${LIFE}`)} then domain end as domain`;

const COUNT_BROWSER_TRY = `
update sign_in_attempts a set secret_tries = secret_tries + 1
where id = $1 and secret_tries < ${MAX_CODE_TRIES} and expires_at - ${lifeOf('a')} > now() - interval '1 hour' returning email`;

// Not for an address that was erased since its attempt was found. $5: the attempt.
const KNOW_DEVICE = `
with person as (select $4::text as email where exists (select from sign_in_attempts where id = $5) and ${notBeingSignedOut('$4::text')})
${knowDevice('person', { selector: '$1::bytea', device: '$2::bytea', label: '$3::text' })}`;

/** The attempt for which an address was entered. */
type Tried = { email: string; domain: string | null };

type Parts = { core: Database['core']; secrets: AttemptSecrets; opener: AttemptOpener; events: EventSink };

/** The links of sign-in emails. */
export class SignInLinks {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Opens a link in the browser that requested it. Returns null, and consumes nothing, for any other browser or a link that ended; where
   * this browser has opened the link, what AttemptOpener.openAgain returns.
   */
  async open(link: string, browser: Browser): Promise<OpeningResult | null> {
    const attempt = this.#parts.secrets.readLink(link);
    if (!attempt) return null;
    return this.#parts.opener.open(attempt, browser, { browser: digest(browser.attempt), email: null, method: 'link' });
  }

  /** Opens a link in any browser, after its address was given. @throws Fault bad_link */
  async confirm({ t, email }: Parsed<'confirmLink'>, browser: Browser): Promise<OpeningResult> {
    const attempt = this.#parts.secrets.readLink(t);
    // A sign-in to a client of OpenID Connect continues only in the browser in which its authorization request waits.
    if (!attempt || attempt.kind === 'app' || attempt.kind === 'oidc') throw new Fault('bad_link');
    // The try is counted before anything is compared.
    const { core, opener, events } = this.#parts;
    const counted = await core.query<Tried>({ name: 'signin-address-try', text: COUNT_ADDRESS_TRY, values: [attempt.id] });
    const [tried] = counted.rows;
    const opened = await (tried
      ? opener.open(attempt, browser, { browser: null, email, method: 'link' })
      : opener.openAgain(attempt, browser, email));
    if (opened) return opened;
    if (tried?.domain && tried.email !== email)
      await events.record({ domain: tried.domain, kind: 'wrong_address', email: tried.email, signIn: attempt.id });
    throw new Fault('bad_link');
  }

  /**
   * Makes the browser known to the rate limits of a mailbox, by a link that was sent to the mailbox within the last hour, even one
   * that was used, expired or was requested in another browser. No one is signed in. The tries for a link are limited together.
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
    const values = [selector, digest(browser.device), await deviceLabelOf(browser.userAgent), email, attempt?.id];
    await core.query({ name: 'signin-know-device', text: KNOW_DEVICE, values });
  }
}

/**
 * Why the page of a link is shown. `none`: nothing would have opened the link; `first`: the link was opened in a browser that it does not
 * sign in; `again`: in one that it has signed in; `unverified`: in such a one, whose website or application has not verified the token.
 */
export type Opening = 'none' | 'first' | 'again' | 'unverified';

/** What the page of an opened link shows. */
export type LinkPage = Pick<SignInBoot, 'link' | 'target' | 'language'>;

type LinkState = {
  kind: AttemptKind;
  email: string;
  /** SHA-256 of the attempt cookie of the browser that began. */
  browser: Buffer;
  language: LanguageCode;
  domain: string | null;
  clientId: string | null;
  redirectUri: string | null;
  destination: Destination | null;
  state: string | null;
  /** What is shown of the website. */
  website: ShownWebsite | null;
  /** Whether the domain is registered now, possibly by another account. */
  registered: boolean;
  /** Whether the website or application for which the email was sent no longer exists, or is a different one. */
  isGone: boolean;
  /** Whether it was used within REPEAT_SECONDS. */
  recent: boolean;
  /** Of an OAuth client: SHA-256 of the session that it issued, if that is open. */
  session: Buffer | null;
  /** `gone`: of an attempt that is neither used nor expired, and `isGone`. */
  status: 'open' | 'used' | 'expired' | 'gone';
};

const IS_GONE = `(a.domain is not null and (${sameRegistration('a.domain', `a.expires_at - ${LIFE}`)}) is not true
    or a.kind = 'app' and not ${clientActive('a')})`;

const LINK_STATE = `
select kind, email, browser, language, domain, client_id as "clientId", redirect_uri as "redirectUri", destination, state,
  (select row_to_json(shown) from (select ${SHOWN_WEBSITE} from websites w where w.domain = a.domain) shown) as website,
  exists (select from websites w where w.domain = a.domain) as registered, ${IS_GONE} as "isGone",
  consumed_at > now() - interval '${REPEAT_SECONDS} seconds' as recent,
  (select s.hash from sessions s where s.hash = a.session and s.expires_at > now()) as session,
  case
    when a.consumed_at is not null or ${endedBySibling('a')} then 'used'
    when expires_at <= now() or secret_tries >= ${MAX_CODE_TRIES} or not ${stillAwaited('a')} then 'expired'
    when ${IS_GONE} then 'gone'
    else 'open' end as status
from sign_in_attempts a where id = $1`;

const INVALID: LinkPage = { language: 'en', link: { state: 'invalid', again: SIGN_IN_PATHS.signIn }, target: { kind: 'portal' } };

type PageParts = {
  core: Database['core'];
  secrets: AttemptSecrets;
  applications: Applications;
  events: EventRecorder;
  publicUrl: string;
};

/**
 * Returns the page of a link, without using the link: for a browser that has to give the address, or for a native client (RFC 8252).
 * @param opening `first`: the website's owner sees it as an event
 */
export async function describeLink(parts: PageParts, secret: string, opening: Opening, cookies: ReceivedCookies): Promise<LinkPage> {
  const attempt = parts.secrets.readLink(secret);
  const found = attempt && (await linkState(parts.core, attempt.id));
  if (!found) return INVALID;
  const { kind, clientId, status, email } = found;
  if (opening === 'again') return describeSignedIn(found, email);
  if (opening === 'unverified') return describeUnverified(found, email);
  if (opening === 'first') await recordVisit(parts, found, attempt.id);
  if (kind === 'oidc') return describeInteractionLink(found, cookies);
  if (clientId === CLI_CLIENT_ID) return describeProgramLink(parts, found, secret);
  if (clientId && isApplicationId(clientId)) return describeApplicationLink(parts, found);
  // The link of the portal's script is opened by its own page (describePortalLink).
  return kind === 'app' && status === 'open' ? INVALID : describeVisitorLink(found, cookies);
}

/**
 * Returns the page of the portal's link for a browser that cannot complete its sign-in, because the link has ended or another browser
 * began it, or the text is not such a link; null for the browser that began it. The link is not used.
 * @param code the link secret, as the authorization code of the callback
 */
export async function describePortalLink({ core, secrets }: PageParts, code: string, cookies: ReceivedCookies): Promise<LinkPage | null> {
  const read = secrets.readLink(code);
  const found = read?.kind === 'app' ? await linkState(core, read.id) : null;
  if (found?.clientId !== WEB_CLIENT_ID) return INVALID;
  const { status, email, session, recent } = found;
  if (session && digest(cookies.get('sid') ?? '').equals(session)) return describeSignedIn(found, email);
  const attempt = cookies.get('attempt');
  const began = attempt !== undefined && digest(attempt).equals(found.browser);
  // The second click of two may have aborted the page that used the link, so that its session has not arrived.
  const canComplete = began && (status === 'open' || (status === 'used' && recent && session !== null));
  if (canComplete) return null;
  return pageOf(found, { kind: 'portal' }, waysOn(found, cookies), { state: 'other_browser', maskedEmail: maskEmail(email) });
}

/** Adds the event for a link of a website or an application that did not sign in. */
async function recordVisit({ events }: PageParts, attempt: LinkState, signIn: string): Promise<void> {
  const { kind, status, email, isGone } = attempt;
  const domain = subjectOf(attempt);
  // Every browser enters the address for the link of an application.
  if (!domain || (kind === 'app' && status === 'open')) return;
  const failure = status === 'open' ? ({ kind: 'wrong_browser' } as const) : ({ kind: 'link_refused', reason: status } as const);
  await events.record({ domain, email: isGone ? null : email, signIn, ...failure });
}

async function linkState(core: Database['core'], id: string): Promise<LinkState | null> {
  return (await core.query<LinkState>({ name: 'signin-link-state', text: LINK_STATE, values: [id] })).rows[0] ?? null;
}

/** Returns the page of a link: with `open` while it is open, else with its state and the ways on. */
function pageOf({ status, language }: LinkState, target: LinkPage['target'], ways: WaysOn, open: LinkPage['link']): LinkPage {
  return { language, target, link: status === 'open' ? open : { state: status, ...ways } };
}

function targetOf({ destination, website }: LinkState): LinkPage['target'] {
  return destination?.to === 'website' ? siteTarget(destination.host, website) : { kind: 'portal' };
}

/**
 * The page of a link in a browser that it has signed in, or of the link of a program: with the way on, if there is one.
 * @param email as the page shows it
 */
function describeSignedIn(found: LinkState, email: string): LinkPage {
  const { kind, clientId, redirectUri, destination, language } = found;
  if (kind === 'oidc') {
    const { origin } = new URL(redirectUri ?? '');
    const isWeb = /^https?:/.test(origin);
    return {
      language,
      target: siteTarget(redirectHostOf(redirectUri ?? ''), null),
      link: { state: 'signed_in', email, again: isWeb ? origin : null },
    };
  }
  const again = clientId === CLI_CLIENT_ID ? null : destination?.to === 'website' ? returnPageOf(destination.url) : PORTAL_HOME;
  return { language, target: targetOf(found), link: { state: 'signed_in', email, again } };
}

/** The same where the token was not verified: the way on is the sign-in page, on which the browser signs in with the remembered account. */
const describeUnverified = (found: LinkState, email: string): LinkPage => ({
  ...describeSignedIn(found, email),
  link: { state: 'signed_in', email, again: againAt(found) },
});

/** Returns where to begin again: at the website itself when it is not registered any more. */
function againAt({ destination, registered, language }: LinkState): string {
  if (destination?.to === 'website') return registered ? pageUrlOf(destination, language) : new URL(destination.url).origin;
  if (destination?.to !== 'application') return pageUrl({}, language);
  // The authorization request contains the language.
  const { pathname, search } = new URL(destination.url);
  return pathname + search;
}

/**
 * Returns the ways on from a link that has ended. Only the browser that requested its email learns the address, and can request another
 * email without entering it. Others may have the link too, and a scanner may submit every form: they must not send the person emails.
 */
function waysOn(found: LinkState, cookies: ReceivedCookies): WaysOn {
  const { destination, registered, email, browser } = found;
  const again = againAt(found);
  if ((destination?.to === 'website' && !registered) || !hasRequested(cookies, browser)) return { again };
  const resend = { maskedEmail: maskEmail(email), form: { action: again, fields: { email } } };
  return { again: `${again}&${new URLSearchParams({ login_hint: email })}`, resend };
}

/** The page of a link to a website or to the portal asks for the address. */
function describeVisitorLink(found: LinkState, cookies: ReceivedCookies): LinkPage {
  const { kind, email } = found;
  return pageOf(found, targetOf(found), waysOn(found, cookies), { state: 'open', maskedEmail: maskEmail(email), hasCode: hasCode(kind) });
}

/** The page of the link of `emailauth login` leads to the program, which waits on this computer. */
function describeProgramLink({ publicUrl }: PageParts, found: LinkState, secret: string): LinkPage {
  const { redirectUri, state, status, recent, email, language } = found;
  // The program is signed in, which has no cookies by which this browser could be told from another one.
  if (status === 'used' && recent) return describeSignedIn(found, maskEmail(email));
  if (!redirectUri || !state) return INVALID;
  const ways = { again: pageUrl({}, language) };
  return pageOf(found, targetOf(found), ways, { state: 'native', redirectUrl: withCode(redirectUri, secret, state, publicUrl) });
}

/** The page of an application's link asks for the address, as long as its redirect URI may be used. It does not contain the code. */
async function describeApplicationLink({ applications }: PageParts, found: LinkState): Promise<LinkPage> {
  const { clientId, redirectUri, status, email } = found;
  const redirectUris = clientId && (await applications.redirectUrisOf(clientId));
  if (!redirectUris || !redirectUri || status === 'gone') return INVALID;
  if (!isRedirectOf({ id: clientId, redirectUris, kind: 'application' }, redirectUri)) return INVALID;
  const { hostname, origin } = new URL(redirectUri);
  return pageOf(found, siteTarget(hostname, null), { again: origin }, { state: 'open', maskedEmail: maskEmail(email), hasCode: true });
}

/** The page of a link that was opened in another browser than the one in which the authorization request waits, or that has ended. */
function describeInteractionLink(found: LinkState, cookies: ReceivedCookies): LinkPage {
  const { redirectUri, email } = found;
  const target = siteTarget(redirectHostOf(redirectUri ?? ''), null);
  return pageOf(found, target, waysOn(found, cookies), { state: 'other_browser', maskedEmail: maskEmail(email) });
}
