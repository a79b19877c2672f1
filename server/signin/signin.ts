import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import { ATTEMPT_SECONDS } from '../../contract/limits.ts';
import type { Parsed } from '../../contract/routes.ts';
import { isLoopbackRedirectHost, mailboxOf, normalHost } from '../../contract/rules.ts';
import type { Query } from '../db/database.ts';
import type { Mail, Outbox } from '../mail/outbox.ts';
import { audienceOf, displayDomainOf, registrableOf } from '../websites/domains.ts';
import type { AccountsStore } from './accounts-store.ts';
import type { CodeTries } from './code-tries-store.ts';
import { deviceLabelOf } from './device-label.ts';
import { readForwardUrl, withToken } from './redirects.ts';
import { createAuthKey, digest, handleToId, randomSecret, readAuthKey, type Secrets } from './secrets.ts';
import type { Limit, NewAttempt, Opening, SignInStore, Verdict } from './store.ts';

/** What a browser sends along: its secrets, as cookies. `attempt` and `device` are made when it has none; `session`: its `sid`. */
export type Browser = { attempt: string; device: string; session: string | undefined; clientAddress: string; userAgent: string };

/** Somebody signed in: what the page may remember and where it goes. */
export type SignedIn = { email: string; authKey: string; redirectUrl: string };

/** Where a sign-in leads: a registered site, or the portal. */
export type Target = { kind: 'portal'; forwardUrl: string } | { kind: 'site'; domain: string; host: string; forwardUrl: string };

const LIMIT_MESSAGES: Record<Limit, string> = {
  address: 'Too many sign-in mails were asked for from your network. Please wait a little.',
  pair: 'Too many sign-in mails to this address. Please use the newest one, or wait a little.',
  mailbox: 'This mailbox has got too many sign-in mails. Please wait a little.',
};

export type SignIn = ReturnType<typeof createSignIn>;

/** THE CORE for the visitors of sites: start, open, code, quick login, verify. Developers' sessions: sessions.ts. */
export function createSignIn(parts: {
  publicUrl: string;
  local: boolean;
  store: SignInStore;
  accounts: AccountsStore;
  codes: Pick<CodeTries, 'find'>;
  secrets: Secrets;
  outbox: Pick<Outbox, 'handOver'>;
}) {
  const { publicUrl, local, store, accounts, codes, secrets, outbox } = parts;
  const portalHome = `${publicUrl}/developer`;

  /**
   * Where a forward_url leads; unset, to the portal.
   * @throws Fault bad_forward_url
   */
  function targetOf(forwardUrl: string | undefined): Target {
    if (forwardUrl === undefined || forwardUrl === portalHome) return { kind: 'portal', forwardUrl: portalHome };
    const { host } = readForwardUrl(forwardUrl, local);
    const domain = registrableOf(host);
    if (!domain) throw new Fault('bad_forward_url', { message: 'The forward_url must be on a registered domain.', field: 'forward_url' });
    return { kind: 'site', domain, host, forwardUrl };
  }

  /** One commit for attempt, owed mail and audit, and for `first` if given; then the mail is handed over at once. */
  async function begin(attempt: NewAttempt, first?: (query: Query) => Promise<unknown>): Promise<void> {
    // The mail's secrets derive from the attempt's kind and id, at the first try as at every retry.
    const data = { ...attempt.mailData, attempt: attempt.kind };
    const row = { ...attempt, mailData: data };
    const verdict = await (first ? store.requestAfter(first, row) : store.request(row));
    if (verdict.outcome === 'not_registered') throw notRegistered(attempt.domain ?? '');
    if (verdict.outcome === 'limited') throw limited(verdict.limit, verdict.retryAfter);
    if (verdict.outcome !== 'sent') throw new Fault('site_recipients_used_up');
    outbox.handOver({
      id: attempt.id,
      kind: attempt.mailKind as Mail['kind'],
      recipient: attempt.email,
      language: attempt.language as LanguageCode,
      data: verdict.brand ? { ...data, ...verdict.brand } : data,
    });
  }

  function newAttempt(email: string, language: LanguageCode, browser: Browser): Omit<NewAttempt, 'kind' | 'mailKind' | 'mailData'> {
    return {
      id: uuid(),
      email,
      mailbox: mailboxOf(email),
      language,
      browser: digest(browser.attempt),
      device: digest(browser.device),
      clientAddress: browser.clientAddress,
      domain: null,
      host: null,
      forwardUrl: null,
      clientId: null,
      redirectUri: null,
      challenge: null,
      state: null,
    };
  }

  /** Opens an attempt for this browser and builds what it gets. */
  async function open(id: string, browser: Browser, by: Pick<Opening, 'browser' | 'email'>): Promise<SignedIn | null> {
    const token = randomSecret();
    const { key, selector, verifier } = createAuthKey();
    const label = await deviceLabelOf(browser.userAgent);
    const opened = await store.open({ id, ...by, tokenHash: digest(token), device: digest(browser.device), selector, verifier, label });
    return opened && { email: opened.email, authKey: key, redirectUrl: withToken(opened.forwardUrl, token) };
  }

  return {
    targetOf,
    begin,
    newAttempt,

    /** Mails a visitor a link to come back to `forward_url`. @throws Fault bad_forward_url, domain_not_registered, rate_limited, site_recipients_used_up */
    async start({ email, forward_url, language }: Parsed<'domainAuth'>, browser: Browser): Promise<{ sent: true; expiresIn: number }> {
      const target = targetOf(forward_url);
      const attempt = { ...newAttempt(email, language, browser), forwardUrl: target.forwardUrl };
      if (target.kind === 'portal') await begin({ ...attempt, kind: 'portal', mailKind: 'portal_sign_in', mailData: {} });
      else
        await begin({
          ...attempt,
          kind: 'site',
          domain: target.domain,
          host: audienceOf(target.host),
          mailKind: 'sign_in',
          mailData: { host: target.host },
        });
      return { sent: true, expiresIn: ATTEMPT_SECONDS };
    },

    /**
     * Tells the linked address of a new site, with a link to the portal that any browser may open after naming the address.
     * @param register inserts the site, in the same transaction as the mail
     */
    async inviteOwner(
      owner: { email: string; domain: string; clientAddress: string },
      register: (query: Query) => Promise<unknown>,
    ): Promise<void> {
      const { clientAddress } = owner;
      const nobody: Browser = { attempt: randomSecret(), device: randomSecret(), session: undefined, clientAddress, userAgent: '' };
      const attempt = { ...newAttempt(owner.email, 'en', nobody), forwardUrl: portalHome };
      await begin({ ...attempt, kind: 'portal', mailKind: 'registered', mailData: { domain: owner.domain } }, register);
    },

    /** Opens a mailed link in the browser that asked for it. @returns null, and nothing is consumed, for any other browser or a dead link */
    async openLink(link: string, browser: Browser): Promise<SignedIn | null> {
      const known = secrets.readLink(link);
      if (!known || known.kind === 'app') return null;
      return open(known.id, browser, { browser: digest(browser.attempt), email: null });
    },

    /** Opens a mailed link in any browser, for whoever names its address. @throws Fault bad_link */
    async confirmLink({ t, email }: Parsed<'confirmLink'>, browser: Browser): Promise<SignedIn> {
      const known = secrets.readLink(t);
      if (!known || known.kind === 'app') throw new Fault('bad_link');
      const signedIn = (await accounts.countAddressTry(known.id)) && (await open(known.id, browser, { browser: null, email }));
      if (!signedIn) throw new Fault('bad_link');
      return signedIn;
    },

    /**
     * Makes the browser known to the limits of a mailbox: by a link that the mailbox got within the last hour, also one that is used,
     * expired or was requested by somebody else. Nobody is signed in, and the link stays as it is.
     * @throws Fault bad_link
     */
    async confirmBrowser({ t, email }: Parsed<'confirmBrowser'>, browser: Browser): Promise<void> {
      const known = secrets.readLink(t);
      const mailed = known && (await accounts.countBrowserTry(known.id));
      // The mails may have gone to another spelling of the address, and the limits count the mailbox.
      if (!mailed || mailboxOf(mailed) !== mailboxOf(email))
        throw new Fault('bad_link', { message: 'This email was not sent to this address, or it is older than an hour.' });
      const { selector } = createAuthKey();
      await accounts.knowDevice({ device: digest(browser.device), email, selector, label: await deviceLabelOf(browser.userAgent) });
    },

    /**
     * Tries the six digits, in the browser or program that began.
     * @returns the way on; for a PKCE attempt the authorization code, which its verifier then exchanges
     * @throws Fault bad_code, rate_limited
     */
    async enterCode({ email, code, state, attempt }: Parsed<'emailCode'>, browser: Browser): Promise<SignedIn | { code: string }> {
      const id = attempt === undefined ? null : handleToId(attempt);
      // Only a PKCE attempt has a handle; it is worth what its state is.
      if (attempt !== undefined && (id === null || state === undefined)) throw new Fault('bad_code');
      const by = id ? { id } : { browser: digest(browser.attempt) };
      const tried = { by, email, state: state ?? null, clientAddress: browser.clientAddress };
      const match = await codes.find(tried, (candidate) => secrets.isCode(candidate.kind, candidate.id, code));
      if (!match) throw new Fault('bad_code', { field: 'code' });
      if (match.kind === 'app') return { code: secrets.link('app', match.id) };
      const signedIn = await open(match.id, browser, { browser: match.browser, email: null });
      if (!signedIn) throw new Fault('bad_code', { field: 'code' });
      return signedIn;
    },

    /**
     * Lets an account in that this browser remembers. `authKey` is null when another tab has just got the next key.
     * @throws Fault bad_key, bad_forward_url
     */
    async quickLogin(
      { email, key, forward_url }: Parsed<'validateKey'>,
      browser: Browser,
    ): Promise<Omit<SignedIn, 'authKey'> & { authKey: string | null }> {
      const target = targetOf(forward_url);
      const known = readAuthKey(key);
      if (!known) throw new Fault('bad_key');
      const token = randomSecret();
      const nextSecret = randomSecret();
      const login = await accounts.quickLogin({
        ...known,
        nextVerifier: digest(nextSecret),
        device: digest(browser.device),
        email,
        domain: target.kind === 'site' ? target.domain : null,
        host: target.kind === 'site' ? audienceOf(target.host) : null,
        tokenHash: digest(token),
        browser: digest(browser.attempt),
      });
      if (!login) throw new Fault('bad_key');
      const nextKey = `${known.selector.toString('base64url')}.${nextSecret}`;
      const authKey = login.replaced ? null : login.rotated ? nextKey : key;
      return { email, authKey, redirectUrl: withToken(target.forwardUrl, token) };
    },

    /**
     * Whom a token is for, once. `domain` is the host that asks; a token for another one is refused and kept. So is a token for
     * a site that is not `owner`'s, the linked address of the one whose API key asks.
     */
    async verify(token: string, domain: string | undefined, idempotencyKey: string | undefined, owner?: string): Promise<Verdict> {
      const hash = digest(token);
      if (owner !== undefined) {
        const site = await accounts.siteOfToken(hash);
        if (site?.owner !== owner) return { valid: false, reason: site ? 'other_domain' : 'unknown' };
      }
      return store.verify({
        hash,
        host: domain === undefined ? null : askingHost(domain),
        idempotencyKey: idempotencyKey === undefined ? null : digest(idempotencyKey),
      });
    },

    attemptStatus: (email: string, browser: Browser) => accounts.attemptStatus(digest(browser.attempt), email),
  };
}

/** What is no host name is nobody's audience. */
function askingHost(domain: string): string {
  const name = domain.toLowerCase();
  return audienceOf(isLoopbackRedirectHost(name) ? name : (normalHost(name) ?? ''));
}

function limited(limit: Limit, retryAfter: number): Fault {
  const message = LIMIT_MESSAGES[limit];
  if (limit === 'address') return new Fault('rate_limited', { message, retryAfter });
  const hint = `Open any sign-in email you received in the last hour in this browser, and confirm your address; then ask again. Or wait for the time named in Retry-After.`;
  return new Fault('rate_limited', { message, retryAfter, field: 'email', hint });
}

export function notRegistered(domain: string): Fault {
  return new Fault('domain_not_registered', { message: `Email authorisation for domain ${displayDomainOf(domain)} not supported` });
}
