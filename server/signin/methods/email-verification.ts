import type pg from 'pg';
import type { Parsed } from '../../../contract/calls.ts';
import { mailboxOf } from '../../../contract/emails.ts';
import { Fault } from '../../../contract/errors.ts';
import { EVP_NONCE_SECONDS } from '../../../contract/limits.ts';
import type { SignInPage } from '../../../contract/pages.ts';
import type { Destination } from '../../../contract/signin.ts';
import { type Browser, browserOf, PageValues, rememberAccount } from '../../developers/browser.ts';
import { isOfGeneration } from '../../permissions/conditions.ts';
import { notBeingSignedOut } from '../../permissions/sign-outs.ts';
import { methodCode } from '../../platform/db/method-rows.ts';
import type { Cookies } from '../../platform/http/cookies.ts';
import { type Endpoint, handle } from '../../platform/http/endpoint.ts';
import type { Limits } from '../../platform/http/limits.ts';
import { emailVerifications, signIns } from '../../platform/metrics/metrics.ts';
import { digest, type SecretKeys } from '../../platform/secrets.ts';
import { completeSignIns, type Issued, issueIn, type SignedIn } from '../complete.ts';
import { columnsOf, type Destinations, requireNoPasskey, withToken } from '../destination.ts';
import { InvalidToken, type SplitToken, splitToken, type TokenFailure } from './evt.ts';
import { DiscoveryFailed, type DiscoveryFailure, type IssuerDiscovery } from './issuer-discovery.ts';

/** How long a verification may take, with everything that it waits for. The email follows. */
const VERIFICATION_MS = 1_500;

type Parts = {
  destinations: Destinations;
  /** Null: the protocol is switched off. */
  discovery: IssuerDiscovery | null;
  publicUrl: string;
  secretKeys: SecretKeys;
  store: VerifiedSignInStore;
  limits: Limits;
};

/** Why a token signed no one in: values of a label of the metrics. */
type Refusal = TokenFailure | DiscoveryFailure | 'off' | 'limited' | 'bad_nonce' | 'replayed' | 'timeout' | 'failed';

class Refused extends Error {
  readonly failure: Refusal;

  constructor(failure: Refusal) {
    super(failure);
    this.failure = failure;
  }
}

/**
 * The Email Verification Protocol, as a relying party: a browser shows a token of the mail provider instead of the person an email.
 * Experimental (docs/decisions/0025-email-verification-protocol.md).
 */
export class EmailVerification {
  readonly #parts: Parts;
  readonly #nonces: PageValues<{ page: { issuedAt: number } }>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#nonces = new PageValues(parts.secretKeys, 'email-verification');
  }

  /** Returns the nonce of a sign-in page, and sets the cookie to which it is bound; undefined where the protocol is off. */
  ofPage(cookies: Cookies): SignInPage['verification'] {
    if (!this.#parts.discovery) return undefined;
    return { nonce: this.#nonces.issue('page', { issuedAt: Date.now() }, cookies, EVP_NONCE_SECONDS) };
  }

  /**
   * Refuses a request for an email whose sender waits for a token instead, when the address has an issuer. All others get the email at
   * once: the browser does not tell its page that there is no issuer.
   * @throws Fault verifiable_email
   */
  async refuseVerifiable({ email, verifiable }: { email: string; verifiable?: boolean }): Promise<void> {
    const { discovery } = this.#parts;
    if (discovery && verifiable && (await discovery.hasIssuer(domainOf(email)))) throw new Fault('verifiable_email');
  }

  /**
   * Signs in with the token of a browser. Returns null when it does not verify the address, whatever the reason: the email follows.
   * @throws Fault bad_forward_url, interaction_ended
   */
  async signIn(input: Parsed<'verifiedEmailSignIn'>, browser: Browser, cookies: Cookies): Promise<SignedIn | null> {
    const destination = await this.#parts.destinations.of(input);
    requireNoPasskey(destination);
    try {
      const signedIn = await this.#signIn(input, destination, browser, cookies);
      emailVerifications.count('verified');
      signIns.count('verified_email', 'signed_in');
      return signedIn;
    } catch (error) {
      emailVerifications.count(failureOf(error));
      return null;
    }
  }

  async #signIn(
    { email, token: presented }: Parsed<'verifiedEmailSignIn'>,
    destination: Destination,
    browser: Browser,
    cookies: Cookies,
  ): Promise<SignedIn> {
    const { store, limits } = this.#parts;
    limits.refuseBlocked('failed_email_verifications', browser.clientAddress);
    const { nonce, issuedAt } = await this.#verify(presented, email, cookies).catch(async (error) => {
      // The next token is refused then; this one is counted by its own reason.
      await limits.hit('failed_email_verifications', browser.clientAddress).catch(() => {});
      throw error;
    });
    const { token, key, stored } = await issueIn(browser);
    const isFirst = await store.signIn({ nonce: digest(nonce), issuedAt, email, ...columnsOf(destination), ...stored });
    if (!isFirst) throw new Refused('replayed');
    return { email, authKey: key, redirectUrl: withToken(destination.url, token) };
  }

  /** Returns the nonce of a token that verifies an address, and when its page was sent. @throws Refused, InvalidToken, DiscoveryFailed */
  async #verify(presented: string, email: string, cookies: Cookies): Promise<{ nonce: string; issuedAt: number }> {
    const { discovery } = this.#parts;
    if (!discovery) throw new Refused('off');
    const token = splitToken(presented);
    const { claimedNonce } = await verification();
    const nonce = claimedNonce(token);
    const page = this.#nonces.read('page', nonce, cookies);
    if (page === null) throw new Refused('bad_nonce');
    await withDeadline(this.#verifyWith(discovery, token, email, nonce));
    return { nonce, issuedAt: page.issuedAt };
  }

  async #verifyWith(discovery: NonNullable<Parts['discovery']>, token: SplitToken, email: string, nonce: string): Promise<void> {
    const { origin: issuer, findKey } = await discovery.issuerOf(domainOf(email));
    const { verifyToken } = await verification();
    await verifyToken(token, { issuer, email, origin: this.#parts.publicUrl, nonce, now: Date.now() }, findKey);
  }
}

// Not imported at the start, which it would slow down: it loads jose, and the protocol is off in production by default.
const verification = () => import('./verify-evt.ts');

const domainOf = (email: string) => email.slice(email.indexOf('@') + 1);

function failureOf(error: unknown): Refusal {
  if (error instanceof Refused || error instanceof InvalidToken || error instanceof DiscoveryFailed) return error.failure;
  return error instanceof Fault && error.code === 'rate_limited' ? 'limited' : 'failed';
}

/** @throws Refused timeout */
async function withDeadline(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refused('timeout')), VERIFICATION_MS);
  });
  try {
    await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Binds the call of verified addresses. */
export function emailVerificationEndpoints(verification: EmailVerification): Endpoint[] {
  return [
    handle('verifiedEmailSignIn', async (input, caller) => {
      const signedIn = await verification.signIn(input, browserOf(caller, 'renew'), caller.cookies);
      if (!signedIn) return { redirectUrl: null };
      rememberAccount(caller.cookies, signedIn.email, signedIn.authKey);
      return { redirectUrl: signedIn.redirectUrl };
    }),
  ];
}

/** A sign-in with an address that its issuer has verified. */
type VerifiedSignIn = {
  /** SHA-256 of the nonce. */
  nonce: Buffer;
  /** When the page was sent, in Unix milliseconds. */
  issuedAt: number;
  email: string;
} & ReturnType<typeof columnsOf> &
  Issued['stored'];

// The nonce is used up together with the sign-in: of several requests with one nonce, on any instance, one signs in. Nonces share the
// table of the challenges of passkeys: both are random, hashed and kept for a day. $1 nonce, $2 address, $3 domain, $4 client_id, $5 audience,
// $6 hash of the token, $7 browser, $8 device, $9 label, $10 selector, $11 verifier, $12 time of the page: a token that was obtained before
// a sign-out or an erasure of the address is worth nothing after it. $13 mailbox, $14 interaction.
const SIGN_IN = `
with used as (
  insert into passkey_challenges (hash)
  select $1 where ($3::text is null or exists (select from websites where domain = $3)) and ${notBeingSignedOut('$2::text')}
    and ${isOfGeneration('$2::text', '$12::float8 * 1000')}
  on conflict do nothing returning $2::text as email, $13::text as mailbox
),
${completeSignIns('used', {
  method: methodCode('verified_email'),
  audit: { domain: '$3::text', clientId: '$4::text' },
  token: {
    hash: '$6::bytea',
    domain: '$3',
    audience: '$5::text',
    interaction: '$14::bytea',
    browser: '$7::bytea',
  },
  remembered: { device: '$8::bytea', label: '$9::text', selector: '$10::bytea', verifier: '$11::bytea' },
})}
select count(*)::integer as signed_in from used`;

/** The statement of sign-ins with verified addresses. */
export class VerifiedSignInStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Signs in, once for each nonce. Returns false when it was used, or the website no longer exists. */
  async signIn(signIn: VerifiedSignIn): Promise<boolean> {
    const { nonce, issuedAt, email, domain, clientId, audience, interaction } = signIn;
    const { tokenHash, browser, device, label, selector, verifier } = signIn;
    const issued = [tokenHash, browser, device, label, selector, verifier, issuedAt];
    const values = [nonce, email, domain, clientId, audience, ...issued, mailboxOf(email), interaction];
    const { rows } = await this.#core.query<{ signed_in: number }>({ name: 'verified-sign-in', text: SIGN_IN, values });
    return rows[0].signed_in === 1;
  }
}
