import type { IncomingHttpHeaders } from 'node:http';
import type { JWTPayload } from 'jose';
import { Fault } from '../../contract/errors.ts';
import { normalEmail } from '../../contract/rules.ts';
import { readAuthKey } from '../accounts/browser.ts';
import type { Database } from '../db/database.ts';
import type { CookieSettings } from '../http/cookies.ts';
import type { Limits } from '../http/limits.ts';
import { issuedTokens } from '../metrics/metrics.ts';
import type { ProviderKeys } from '../oidc/keys.ts';
import { type SecretKeys, SignedValues } from '../secrets.ts';
import { InvalidRequest, REQUEST_ALGORITHMS, type RequestFailure, verifyTokenRequest } from './issuer-request.ts';
import { EVT_TYPE, type EvtClaims } from './token.ts';

export const ACCOUNTS_PATH = '/email-verification/accounts';
export const ISSUANCE_PATH = '/email-verification/issuance';

/** Life of the cookie, in seconds: that of a session. */
const COOKIE_SECONDS = 30 * 86_400;

// Who can sign in here without an email: a sign-out voids the verifier. $1 selector, $2 address.
const SIGNED_IN = `
select email, floor(extract(epoch from now()))::float8 as now from remembered_keys
where selector = $1 and email = $2 and verifier <> '' and used_at > now() - interval '90 days' and expires_at > now()`;

const ISSUE = `
with signed_in as (${SIGNED_IN}),
audit as (insert into audit_log (action, email) select 'email_verification_issued', email from signed_in)
select now from signed_in`;

/** The account of a cookie: an address, and the selector of its key on the device. */
type CookieAccount = { selector: Buffer; email: string };

/** Whether the domain of an address is one of those for which the service issues tokens. */
const isOf = (domains: ReadonlySet<string>, email: string) => domains.has(email.slice(email.lastIndexOf('@') + 1));

/** The cookie by which the issuer identifies the account that signed in last in a browser. It is of no use to any other request. */
export class VerifiableCookie {
  readonly #values: SignedValues<'account'>;
  readonly #domains: ReadonlySet<string>;

  constructor({ secretKeys, domains }: { secretKeys: SecretKeys; domains: ReadonlySet<string> }) {
    this.#values = new SignedValues(secretKeys, 'email verification');
    this.#domains = domains;
  }

  /** Returns the value for an account, or null when the service issues no tokens for its address. */
  readonly valueOf: NonNullable<CookieSettings['verifiableCookie']> = (email, key) => {
    const selector = readAuthKey(key)?.selector;
    if (!selector || !isOf(this.#domains, email)) return null;
    return this.#values.sign('account', `${selector.toString('base64url')} ${email}`, COOKIE_SECONDS);
  };

  /** Returns the account of a value, or null for a forged or expired one, or when its domain is no longer one of the service's. */
  read(value: string | undefined): CookieAccount | null {
    const [selector, email] = this.#values.verify('account', value)?.split(' ') ?? [];
    return email && isOf(this.#domains, email) ? { selector: Buffer.from(selector, 'base64url'), email } : null;
  }
}

type Parts = {
  /** An https origin. */
  publicUrl: string;
  domains: ReadonlySet<string>;
  cookie: VerifiableCookie;
  core: Database['core'];
  keys: Pick<ProviderKeys, 'signingKeys'>;
  limits: Pick<Limits, 'hit' | 'refuseBlocked'>;
};

/** A request for a token, with the value of the cookie. */
export type IssuanceRequest = { headers: IncomingHttpHeaders; body: string; cookie: string | undefined; clientAddress: string };

/** Why no token is issued. They are values of a label of the metrics. */
type Refusal =
  | RequestFailure
  | 'not_a_browser'
  | 'bad_email'
  | 'other_domain'
  | 'private_email'
  | 'no_cookie'
  | 'other_address'
  | 'signed_out';

/** The issuer of email verification tokens (draft-hardt-email-verification) for the addresses of the operator's domains. */
export class EmailVerificationIssuer {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the metadata, of which the DNS record of each domain names the host. */
  metadata(): object {
    const { publicUrl } = this.#parts;
    return {
      issuer: publicUrl,
      issuance_endpoint: publicUrl + ISSUANCE_PATH,
      jwks_uri: `${publicUrl}/oauth/jwks`,
      signing_alg_values_supported: REQUEST_ALGORITHMS,
    };
  }

  /** Returns where browsers find out who is signed in (FedCM), of which there is a copy on the registrable domain. */
  webIdentity(): object {
    const { publicUrl } = this.#parts;
    return { accounts_endpoint: publicUrl + ACCOUNTS_PATH, login_url: `${publicUrl}/auth` };
  }

  /**
   * Returns the account that a browser may request a token for, as FedCM lists accounts.
   * @throws Fault bad_request when the request is not the browser's own, sign_in_needed
   */
  async accounts(headers: IncomingHttpHeaders, cookie: string | undefined): Promise<object> {
    if (headers['sec-fetch-dest'] !== 'webidentity' || headers.origin !== undefined) throw notABrowser();
    const account = this.#parts.cookie.read(cookie);
    const { rows } = account ? await this.#run('email-verification-account', SIGNED_IN, account) : { rows: [] };
    if (!account || rows.length === 0) throw new Fault('sign_in_needed');
    const { email } = account;
    return { accounts: [{ id: email, name: email, email }] };
  }

  /**
   * Returns a token for the address that a browser requests, bound to the key that signed the request.
   * @throws Fault bad_request, unsupported_media_type, bad_json, bad_request_signature, email_not_verifiable, rate_limited
   */
  async issue(request: IssuanceRequest): Promise<{ issuance_token: string }> {
    const { limits } = this.#parts;
    limits.refuseBlocked('failed_issuances', request.clientAddress);
    try {
      const token = await this.#issue(request);
      issuedTokens.count('issued');
      return { issuance_token: token };
    } catch (error) {
      if (error instanceof Refused) await limits.hit('failed_issuances', request.clientAddress);
      issuedTokens.count(error instanceof Refused ? error.refusal : error instanceof Fault ? error.code : 'unavailable');
      throw error;
    }
  }

  async #issue({ headers, body, cookie }: IssuanceRequest): Promise<string> {
    const { publicUrl, domains, limits } = this.#parts;
    // No page can set these headers, so that the request is one of the browser, in nobody's name, or of a program without its cookies.
    const { origin = 'null', 'sec-fetch-dest': destination } = headers;
    if (destination !== 'email-verification' || origin !== 'null') throw notABrowser();
    const jwk = await verifyTokenRequest({ method: 'POST', url: publicUrl + ISSUANCE_PATH, headers, body }, Date.now()).catch(
      refuseSignature,
    );
    const { requested, email } = readEmail(body);
    if (!isOf(domains, email)) throw notSignedIn('other_domain');
    const account = this.#parts.cookie.read(cookie);
    if (!account) throw notSignedIn('no_cookie');
    if (account.email !== email) throw notSignedIn('other_address');
    await limits.hit('issued_tokens', email);
    const { rows } = await this.#run('email-verification-issue', ISSUE, account);
    if (rows.length === 0) throw notSignedIn('signed_out');
    // Browsers compare the address with what was typed, so that it keeps its capital letters.
    return this.#sign({ iss: publicUrl, iat: rows[0].now, cnf: { jwk }, email: requested, email_verified: true });
  }

  async #sign(claims: EvtClaims): Promise<string> {
    const { SignJWT, importJWK } = await import('jose');
    const key = (await this.#parts.keys.signingKeys()).find(({ alg }) => REQUEST_ALGORITHMS.includes(alg));
    if (!key) throw new Error('There is no key that signs.');
    const jwt = new SignJWT(claims as JWTPayload).setProtectedHeader({ alg: key.alg, kid: key.kid, typ: EVT_TYPE });
    return `${await jwt.sign(await importJWK({ ...key }, key.alg))}~`;
  }

  #run(name: string, text: string, { selector, email }: CookieAccount) {
    return this.#parts.core.query<{ now: number }>({ name, text, values: [selector, email] });
  }
}

/** A refused request, with what the metrics count it as. */
class Refused extends Fault {
  readonly refusal: Refusal;

  constructor(refusal: Refusal, ...fault: ConstructorParameters<typeof Fault>) {
    super(...fault);
    this.refusal = refusal;
  }
}

const notABrowser = () =>
  new Refused('not_a_browser', 'bad_request', {
    message: 'Only a browser makes this request, with its own Sec-Fetch-Dest and no Origin of a website.',
  });

const notSignedIn = (refusal: Refusal) => new Refused(refusal, 'email_not_verifiable');

function refuseSignature(error: unknown): never {
  if (error instanceof InvalidRequest) throw new Refused(error.failure, 'bad_request_signature');
  throw error;
}

/** Returns the address of a body as it was typed, and in its normal form. @throws Fault bad_request, private_email_not_supported */
function readEmail(body: string): { requested: string; email: string } {
  const fields = parseObject(body);
  if ('private_email' in fields || 'directed_email' in fields) throw new Refused('private_email', 'private_email_not_supported');
  const requested = fields.email;
  const email = typeof requested === 'string' ? normalEmail(requested) : null;
  const isAscii = typeof requested === 'string' && /^[\x21-\x7e]+$/.test(requested);
  if (!email || !isAscii || requested.toLowerCase() !== email) throw new Refused('bad_email', 'bad_request', { field: 'email' });
  return { requested, email };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    throw new Refused('bad_email', 'bad_json');
  }
}
