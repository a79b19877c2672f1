import { v7 as uuid } from 'uuid';
import type { Parsed } from '../../contract/calls.ts';
import { mailboxOf } from '../../contract/emails.ts';
import { Fault } from '../../contract/errors.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import { ATTEMPT_SECONDS } from '../../contract/limits.ts';
import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { type Destination, Email, LanguageChoice, SignInDestination } from '../../contract/signin.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import { type EventRecorder, subjectOf } from '../activity/recorder.ts';
import { type Browser, deviceNamesOf } from '../developers/browser.ts';
import type { Mail } from '../mail/mail.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { Query } from '../platform/db/database.ts';
import { blockOfNetwork } from '../platform/http/client-address.ts';
import type { Cookies, ReceivedCookies } from '../platform/http/cookies.ts';
import { emailRequests } from '../platform/metrics/metrics.ts';
import { digest, isRandomSecret, randomSecret } from '../platform/secrets.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { columnsOf, type Destinations, NO_CONDITIONS, type ParsedDestination, redirectHostOf } from './destination.ts';
import type { Limit, NewAttempt, RequestStore } from './request-store.ts';

type Parts = {
  destinations: Destinations;
  store: RequestStore;
  outbox: Outbox;
  events: EventRecorder;
};

type Invitation = { email: string; domain: string; role: WebsiteRole; inviter: string; clientAddress: string };

/** Requests for a sign-in email: each begins an attempt. */
export class SignInRequests {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Sends a person an email with a link and a code that lead to a destination.
   * @throws Fault bad_forward_url, interaction_ended, domain_not_registered, rate_limited, site_recipients_used_up
   */
  async start({ email, language, ...parameters }: Parsed<'domainAuth'>, browser: Browser): Promise<{ sent: true; expiresIn: number }> {
    const destination = await this.#parts.destinations.of(parameters);
    const { domain, audience, clientId } = columnsOf(destination);
    await this.begin({ ...newAttempt(email, language, browser), domain, audience, clientId, ...attemptFor(destination, language) });
    return { sent: true, expiresIn: ATTEMPT_SECONDS };
  }

  /**
   * Sends the linked address of a new website an email with a link to the portal, which any browser may open after giving the
   * address: once, until the address has signed in or the registration ends.
   * @param owner.userAgent of the request that registers the website
   * @param register inserts the website, in the same transaction as the email
   */
  async inviteOwner(
    owner: { email: string; domain: string; clientAddress: string; userAgent: string },
    register: (query: Query) => Promise<unknown>,
  ): Promise<void> {
    const { email, domain, clientAddress, userAgent } = owner;
    const attempt = { ...newAttempt(email, 'en', noBrowser(clientAddress, userAgent)), ...this.#portalFor(domain) };
    await this.begin({ ...attempt, kind: 'registration', mailKind: 'registered', mailData: { domain } }, register);
  }

  /**
   * Sends an address an email with a link to the portal, where it can accept to manage a website: once, until it has accepted or
   * the invitation ends.
   * @param add inserts the invitation, in the same transaction as the email
   */
  async inviteMember({ email, domain, role, inviter, clientAddress }: Invitation, add: (query: Query) => Promise<unknown>): Promise<void> {
    const attempt = { ...newAttempt(email, 'en', noBrowser(clientAddress, '')), ...this.#portalFor(domain) };
    const mailKind = role === 'owner' ? 'invited_owner' : 'invited_member';
    await this.begin({ ...attempt, kind: 'invitation', mailKind, mailData: { domain, inviter } }, add);
  }

  #portalFor(domain: string) {
    return { audience: domain, destination: this.#parts.destinations.ofUrl() };
  }

  /**
   * Commits attempt, pending email and audit row together, after `first` if it is given; then hands the email over for sending.
   * @throws Fault domain_not_registered, rate_limited, site_recipients_used_up
   */
  async begin(attempt: NewAttempt, first?: (query: Query) => Promise<unknown>): Promise<void> {
    const { store, outbox, events } = this.#parts;
    // The secrets of the email derive from the attempt's kind and id, at the first try as at every retry.
    const data: Record<string, string> = { ...attempt.mailData, attempt: attempt.kind };
    const subject = subjectOf(attempt);
    if (subject && attempt.mailKind === 'app_sign_in') data.website = subject;
    const device = await deviceNamesOf(attempt.userAgent);
    if (device) data.device = device;
    const row = { ...attempt, mailData: data };
    const result = await (first ? store.requestAfter(first, row) : store.request(row));
    emailRequests.count(result.status);
    if (result.status === 'not_registered') throw notRegistered(attempt.domain ?? '');
    if (result.status !== 'sent' && subject) {
      const reason = result.status === 'limited' ? result.limit : 'probation';
      await events.record({ domain: subject, kind: 'request_refused', reason, email: attempt.email });
    }
    if (result.status === 'limited') throw limited(result.limit, result.retryAfter);
    if (result.status !== 'sent') throw new Fault('site_recipients_used_up');
    outbox.handOver({
      id: attempt.id,
      kind: attempt.mailKind as Mail['kind'],
      recipient: attempt.email,
      language: attempt.language as LanguageCode,
      data: result.added ? { ...data, ...result.added } : data,
      requestId: attempt.requestId,
    });
  }
}

/** Returns a browser that no one has, for an email that its recipient did not request. */
const noBrowser = (clientAddress: string, userAgent: string): Browser => ({
  attempt: randomSecret(),
  device: randomSecret(),
  session: undefined,
  clientAddress,
  userAgent,
});

/** Returns what an attempt has of its destination, and its email. */
function attemptFor(
  destination: Destination,
  language: LanguageCode,
): Pick<NewAttempt, 'kind' | 'destination' | 'mailKind' | 'mailData'> & Partial<NewAttempt> {
  if (destination.to === 'portal') {
    // An email always opens the portal.
    return { kind: 'portal', destination: { ...destination, conditions: NO_CONDITIONS }, mailKind: 'portal_sign_in', mailData: {} };
  }
  if (destination.to === 'website') {
    const { host, website } = destination;
    return { kind: 'site', destination, mailKind: 'sign_in', mailData: { host, website } };
  }
  const { url, redirectUri } = destination;
  const mail = { mailKind: 'app_sign_in', mailData: { host: redirectHostOf(redirectUri) } };
  return { kind: 'oidc', destination: { ...destination, url: `${url}?language=${language}` }, redirectUri, ...mail };
}

/** Returns an attempt of a browser, without its destination. */
export function newAttempt(email: string, language: LanguageCode, browser: Browser): Omit<NewAttempt, 'kind' | 'mailKind' | 'mailData'> {
  return {
    id: uuid(),
    email,
    mailbox: mailboxOf(email),
    language,
    browser: digest(browser.attempt),
    device: digest(browser.device),
    clientAddress: browser.clientAddress,
    block: blockOfNetwork(browser.clientAddress),
    userAgent: browser.userAgent,
    requestId: browser.requestId,
    destination: null,
    domain: null,
    audience: null,
    clientId: null,
    redirectUri: null,
    challenge: null,
    state: null,
  };
}

const LIMITS = {
  network: RATE_LIMITS.mails_from_network,
  pair: RATE_LIMITS.mails_to_mailbox_from_network,
  mailbox: RATE_LIMITS.mails_to_mailbox,
} as const satisfies Record<Limit, object>;

function limited(limit: Limit, retryAfter: number): Fault {
  const { message } = LIMITS[limit];
  if (limit === 'network') return new Fault('rate_limited', { message, retryAfter });
  const hint =
    'Open any sign-in email you received in the last hour in this browser, and confirm your address; then request a new email. Or wait for the time given in Retry-After.';
  return new Fault('rate_limited', { message, retryAfter, field: 'email', hint });
}

function notRegistered(domain: string): Fault {
  return new Fault('domain_not_registered', { message: `Email authorisation for domain ${displayDomainOf(domain)} not supported` });
}

/** Makes a browser recognize for an hour the emails that it requests (hasRequested). */
export const rememberRequest = (cookies: Cookies, { attempt }: Browser) => cookies.set('requested', attempt);

/**
 * Returns whether a browser requested the email of an attempt within the last hour.
 * @param browser of the attempt
 */
export function hasRequested(cookies: ReceivedCookies, browser: Buffer): boolean {
  const requested = cookies.get('requested');
  return isRandomSecret(requested) && digest(requested).equals(browser);
}

const RefusalCookie = SignInDestination.extend({ email: Email, language: LanguageChoice });

/**
 * A request for an email that the limit of its mailbox refused. An emailed link that is opened in the same browser can prove that
 * the mailbox is the person's; then the limit does not apply to the browser any more.
 */
type Refusal = ParsedDestination & { email: string; language: LanguageCode };

/** Makes a request for an email. Its browser remembers for an hour that the limit of the mailbox refused it. */
export async function rememberRefusal<Sent>(cookies: Cookies, refusal: Refusal, request: () => Promise<Sent>) {
  try {
    const sent = await request();
    forgetRefusal(cookies);
    return sent;
  } catch (error) {
    if (error instanceof Fault && error.code === 'rate_limited' && error.field === 'email') {
      cookies.set('refusal', Buffer.from(JSON.stringify(RefusalCookie.parse(refusal))).toString('base64url'));
    }
    throw error;
  }
}

/** Returns the refusal that a browser remembers, or null. Its content is not trusted: it only fills in a page. */
export function refusalOf(cookies: ReceivedCookies): Refusal | null {
  try {
    const content = JSON.parse(Buffer.from(cookies.get('refusal') ?? '', 'base64url').toString());
    const refusal = RefusalCookie.parse(content);
    return refusal.email === content.email ? refusal : null;
  } catch {
    return null;
  }
}

/** Makes a browser forget its refusal. */
export function forgetRefusal(cookies: Cookies): void {
  if (cookies.get('refusal') !== undefined) cookies.set('refusal', null);
}
