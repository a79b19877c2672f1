import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { type LanguageCode, languageOf } from '../../contract/languages.ts';
import { ATTEMPT_SECONDS } from '../../contract/limits.ts';
import type { Parsed } from '../../contract/routes.ts';
import { mailboxOf, normalEmail } from '../../contract/rules.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import { type Browser, deviceNamesOf } from '../accounts/browser.ts';
import type { Query } from '../db/database.ts';
import { type EventRecorder, subjectOf } from '../events/recorder.ts';
import type { Cookies } from '../http/cookies.ts';
import { blockOfNetwork } from '../http/reading.ts';
import type { Mail } from '../mail/mail.ts';
import type { Outbox } from '../mail/outbox.ts';
import { emailRequests } from '../metrics/metrics.ts';
import { digest, randomSecret } from '../secrets.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { conditionsQuery, PASSKEY_ONLY } from './methods.ts';
import type { Limit, NewAttempt, RequestStore } from './request-store.ts';
import { type InteractionTargets, redirectHostOf, type Targets } from './target.ts';

const LIMIT_MESSAGES: Record<Limit, string> = {
  address:
    'There are many sign-ins from your network, so no email was sent. Sign in with a passkey or a remembered account, or wait a little.',
  pair: 'Too many sign-in emails to this address. Please use the newest one, or wait a little.',
  mailbox: 'Too many sign-in emails were sent to this mailbox. Please wait a little.',
};

/** The reasons of events for requests that sent no email. */
const EVENT_REASONS: Record<Limit, string> = { address: 'network', pair: 'pair', mailbox: 'mailbox' };

type Parts = {
  targets: Targets;
  interactions: InteractionTargets;
  store: RequestStore;
  outbox: Pick<Outbox, 'handOver'>;
  events: Pick<EventRecorder, 'record'>;
};

type Invitation = { email: string; domain: string; role: WebsiteRole; inviter: string; clientAddress: string };

/** Requests for a sign-in email: each begins an attempt. */
export class SignInRequests {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Sends a visitor an email with a link and a code that lead to `forward_url`.
   * @throws Fault bad_forward_url, interaction_ended, domain_not_registered, rate_limited, site_recipients_used_up
   */
  async start(
    { email, forward_url, interaction, language, ...asked }: Parsed<'domainAuth'>,
    browser: Browser,
  ): Promise<{ sent: true; expiresIn: number }> {
    if (interaction !== undefined) return this.#startInteraction(interaction, newAttempt(email, language, browser));
    const target = this.#parts.targets.of(forward_url);
    const attempt = { ...newAttempt(email, language, browser), forwardUrl: target.forwardUrl };
    if (target.kind === 'portal') await this.begin({ ...attempt, kind: 'portal', mailKind: 'portal_sign_in', mailData: {} });
    else
      await this.begin({
        ...attempt,
        kind: 'site',
        domain: target.domain,
        host: target.audience,
        conditions: conditionsQuery(asked),
        mailKind: 'sign_in',
        mailData: { host: target.host, website: target.domain },
      });
    return { sent: true, expiresIn: ATTEMPT_SECONDS };
  }

  /** Sends an email to the person of an authorization request. @throws Fault interaction_ended, rate_limited */
  async #startInteraction(uid: string, attempt: ReturnType<typeof newAttempt>): Promise<{ sent: true; expiresIn: number }> {
    const { clientId, redirectUri, url, tokenHost, conditions } = await this.#parts.interactions.waiting(uid);
    await this.begin({
      ...attempt,
      kind: 'oidc',
      clientId,
      redirectUri,
      forwardUrl: `${url}?language=${attempt.language}`,
      host: tokenHost.email,
      conditions: conditions.passkey ? PASSKEY_ONLY : null,
      mailKind: 'app_sign_in',
      mailData: { host: redirectHostOf(redirectUri) },
    });
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

  #portalFor(domain: string): Pick<NewAttempt, 'host' | 'forwardUrl'> {
    return { host: domain, forwardUrl: this.#parts.targets.portalHome };
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
      const reason = result.status === 'limited' ? EVENT_REASONS[result.limit] : 'probation';
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

/** Returns an attempt of a browser, without its target. */
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
    domain: null,
    host: null,
    forwardUrl: null,
    clientId: null,
    redirectUri: null,
    challenge: null,
    state: null,
    conditions: null,
  };
}

function limited(limit: Limit, retryAfter: number): Fault {
  const message = LIMIT_MESSAGES[limit];
  if (limit === 'address') return new Fault('rate_limited', { message, retryAfter });
  const hint =
    'Open any sign-in email you received in the last hour in this browser, and confirm your address; then request a new email. Or wait for the time given in Retry-After.';
  return new Fault('rate_limited', { message, retryAfter, field: 'email', hint });
}

function notRegistered(domain: string): Fault {
  return new Fault('domain_not_registered', { message: `Email authorisation for domain ${displayDomainOf(domain)} not supported` });
}

/**
 * A request for an email that the limit of its mailbox refused. An emailed link that is opened in the same browser can prove that
 * the mailbox is the person's; then the limit does not apply to the browser any more.
 */
export type Refusal = {
  email: string;
  language: LanguageCode;
  forward_url?: string;
  max_age?: string;
  require?: string;
  interaction?: string;
};

/** Makes a request for an email. Its browser remembers for an hour that the limit of the mailbox refused it. */
export async function rememberRefusal<Sent>(
  cookies: Cookies,
  { email, language, max_age, ...destination }: Omit<Refusal, 'max_age'> & { max_age?: number },
  request: () => Promise<Sent>,
) {
  try {
    const sent = await request();
    forgetRefusal(cookies);
    return sent;
  } catch (error) {
    if (error instanceof Fault && error.code === 'rate_limited' && error.field === 'email') {
      const { forward_url, require, interaction } = destination;
      const refusal = { email, language, forward_url, max_age: max_age?.toString(), require, interaction };
      cookies.set('refusal', Buffer.from(JSON.stringify(refusal)).toString('base64url'));
    }
    throw error;
  }
}

/** Returns the refusal that a browser remembers, or null. Its content is not trusted: it only fills in a page. */
export function refusalOf(cookies: Pick<Cookies, 'get'>): Refusal | null {
  try {
    const { email, language, forward_url, max_age, require, interaction } = JSON.parse(
      Buffer.from(cookies.get('refusal') ?? '', 'base64url').toString() || 'null',
    );
    if (typeof email !== 'string' || normalEmail(email) !== email) return null;
    const texts = { forward_url, max_age, require, interaction: /^[\w-]{21,64}$/.test(interaction) ? interaction : undefined };
    const destination = Object.entries(texts).filter(([, value]) => typeof value === 'string');
    return { email, language: languageOf(language), ...Object.fromEntries(destination) };
  } catch {
    return null;
  }
}

/** Makes a browser forget its refusal. */
export function forgetRefusal(cookies: Cookies): void {
  if (cookies.get('refusal') !== undefined) cookies.set('refusal', null);
}
