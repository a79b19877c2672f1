import { randomBytes } from 'node:crypto';
import { Fault } from '../../contract/errors.ts';
import { EVP_NONCE_SECONDS } from '../../contract/limits.ts';
import type { SignInPage } from '../../contract/pages.ts';
import type { Parsed } from '../../contract/routes.ts';
import {
  type Browser,
  bindToBrowser,
  boundBrowser,
  browserOf,
  createAuthKey,
  deviceLabelOf,
  rememberAccount,
} from '../accounts/browser.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Limits } from '../http/limits.ts';
import { type Served, serve } from '../http/serve.ts';
import { emailVerifications, signIns } from '../metrics/metrics.ts';
import { digest, randomSecret, type SecretKeys, SignedValues } from '../secrets.ts';
import type { SignedIn } from '../signin/opener.ts';
import { type TargetParts, type TokenTarget, tokenTargetOf } from '../signin/quick-login.ts';
import { withToken } from '../signin/target.ts';
import { DiscoveryFailed, type DiscoveryFailure, type IssuerDiscovery } from './discovery.ts';
import type { VerifiedSignInStore } from './store.ts';
import { claimedNonce, InvalidToken, type SplitToken, splitToken, type TokenFailure, verifyToken } from './token.ts';

/** How long a verification may take, with everything that it waits for. The email follows. */
const VERIFICATION_MS = 1_500;

type Parts = TargetParts & {
  /** Null: the protocol is switched off. */
  discovery: Pick<IssuerDiscovery, 'issuerOf' | 'hasIssuer'> | null;
  publicUrl: string;
  secretKeys: SecretKeys;
  store: Pick<VerifiedSignInStore, 'signIn'>;
  limits: Pick<Limits, 'hit' | 'refuseBlocked'>;
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
  readonly #nonces: SignedValues<'page'>;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#nonces = new SignedValues(parts.secretKeys, 'email-verification');
  }

  /**
   * Returns the nonce of a sign-in page, and sets the cookie to which it is bound. It is not stored until it is used. Undefined where the
   * protocol is off.
   */
  ofPage(cookies: Cookies): SignInPage['verification'] {
    if (!this.#parts.discovery) return undefined;
    const content = { random: randomBytes(16).toString('base64url'), browser: bindToBrowser(cookies) };
    return { nonce: this.#nonces.sign('page', JSON.stringify(content), EVP_NONCE_SECONDS) };
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
    const target = await tokenTargetOf(this.#parts, input, 'verified_email');
    try {
      const signedIn = await this.#signIn(input, target, browser, cookies);
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
    target: TokenTarget,
    browser: Browser,
    cookies: Cookies,
  ): Promise<SignedIn> {
    const { store, limits } = this.#parts;
    limits.refuseBlocked('failed_email_verifications', browser.clientAddress);
    const nonce = await this.#verify(presented, email, cookies).catch(async (error) => {
      // The next token is refused then; this one is counted by its own reason.
      await limits.hit('failed_email_verifications', browser.clientAddress).catch(() => {});
      throw error;
    });
    const token = randomSecret();
    const { key, selector, verifier } = createAuthKey();
    const isFirst = await store.signIn({
      nonce: digest(nonce),
      email,
      target,
      tokenHash: digest(token),
      browser: digest(browser.attempt),
      device: digest(browser.device),
      label: await deviceLabelOf(browser.userAgent),
      selector,
      verifier,
    });
    if (!isFirst) throw new Refused('replayed');
    return { email, authKey: key, redirectUrl: withToken(target.forwardUrl, token) };
  }

  /** Returns the nonce of a token that verifies an address. @throws Refused, InvalidToken, DiscoveryFailed */
  async #verify(presented: string, email: string, cookies: Cookies): Promise<string> {
    const { discovery } = this.#parts;
    if (!discovery) throw new Refused('off');
    const token = splitToken(presented);
    const nonce = claimedNonce(token);
    const content = this.#nonces.verify('page', nonce);
    const browser = boundBrowser(cookies);
    if (content === null || browser === null || JSON.parse(content).browser !== browser) throw new Refused('bad_nonce');
    await withDeadline(this.#verifyWith(discovery, token, email, nonce));
    return nonce;
  }

  async #verifyWith(discovery: NonNullable<Parts['discovery']>, token: SplitToken, email: string, nonce: string): Promise<void> {
    const { origin: issuer, findKey } = await discovery.issuerOf(domainOf(email));
    await verifyToken(token, { issuer, email, origin: this.#parts.publicUrl, nonce, now: Date.now() }, findKey);
  }
}

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
export function emailVerificationRoutes(verification: EmailVerification): Served[] {
  return [
    serve('verifiedEmailSignIn', async (input, caller) => {
      const signedIn = await verification.signIn(input, browserOf(caller, 'renew'), caller.cookies);
      if (!signedIn) return { redirectUrl: null };
      rememberAccount(caller.cookies, signedIn.email, signedIn.authKey);
      return { redirectUrl: signedIn.redirectUrl };
    }),
  ];
}
