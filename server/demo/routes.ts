import { randomUUID } from 'node:crypto';
import { parse } from 'cookie';
import { type Request, type Response, Router } from 'express';
import { languageOf } from '../../contract/languages.ts';
import type { Config } from '../platform/config.ts';
import { type SecretKeys, SignedValues } from '../platform/secrets.ts';
import { registrableOf } from '../websites/domains.ts';
import { confirmPage, type Html, homePage, ICON, type Problem, problemPage } from './pages.ts';
import { STYLE } from './style.ts';

const STATE_SECONDS = 20 * 60;
const PENDING_SECONDS = 10 * 60;
const SESSION_SECONDS = 24 * 3600;

const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'same-origin',
};

/**
 * A small shop that signs its visitors in like any other website: with its own cookies, and with requests from its server to the API
 * over HTTP. Local mode only.
 * @param headers of every response that is data
 */
export function demoRouter(config: Config, secretKeys: SecretKeys, headers: Record<string, string>): Router {
  const shop = new DemoShop(config, secretKeys, headers);
  const file = (type: string, text: string) => (_: Request, response: Response) =>
    void response
      .set({ ...headers, 'Cache-Control': 'no-cache' })
      .type(type)
      .send(text);
  const router = Router();
  router.get('/demo', (request, response) => shop.home(request, response));
  router.get('/demo/style.css', file('css', STYLE));
  router.get('/demo/icon.svg', file('svg', ICON));
  router.get('/demo/sign-in', (request, response) => shop.beginSignIn(request, response));
  router.get('/demo/callback', (request, response) => shop.callback(request, response));
  router.get('/demo/confirm', (request, response) => shop.confirmation(request, response));
  router.post('/demo/confirm', (request, response) => shop.confirm(request, response));
  router.post('/demo/sign-out', (request, response) => shop.signOut(request, response));
  return router;
}

class DemoShop {
  readonly #config: Config;
  readonly #headers: Record<string, string>;
  readonly #signed: SignedValues<'state' | 'pending' | 'session'>;
  readonly #domain: string;

  constructor(config: Config, secretKeys: SecretKeys, headers: Record<string, string>) {
    this.#config = config;
    this.#headers = { ...headers, ...PAGE_HEADERS };
    this.#signed = new SignedValues(secretKeys, 'demo shop');
    const { hostname } = new URL(config.publicUrl);
    this.#domain = registrableOf(hostname) ?? hostname;
  }

  home(request: Request, response: Response): void {
    const email = this.#signed.verify('session', cookieOf(request, 'demo_session'));
    this.#send(response, homePage({ email, inbox: this.#config.smtpUrl === null, domain: this.#domain }));
  }

  /** Redirects to the sign-in page. The state binds the visitor's return to this browser, which prevents login CSRF. */
  beginSignIn(request: Request, response: Response): void {
    const { publicUrl } = this.#config;
    // A sign-in that began in another tab can still be completed.
    const id = this.#signed.verify('state', cookieOf(request, 'demo_state')) ?? randomUUID();
    const state = this.#signed.sign('state', id, STATE_SECONDS);
    this.#setCookie(response, 'demo_state', state, STATE_SECONDS);
    const query = new URLSearchParams({
      forward_url: `${publicUrl}/demo/callback?state=${state}`,
      language: languageOf(request.query.language),
    });
    this.#redirect(response, `${publicUrl}/auth?${query}`);
  }

  async callback(request: Request, response: Response): Promise<void> {
    const { state, token } = request.query;
    if (typeof token !== 'string' || typeof state !== 'string' || token === '') return this.#refuse(response, 'missing');
    const own = cookieOf(request, 'demo_state');
    const id = this.#signed.verify('state', state);
    if (!id || (own && this.#signed.verify('state', own) !== id)) return this.#refuse(response, 'wrong_state');
    const result = await verifyToken(this.#config.publicUrl, token, this.#domain);
    if ('reason' in result) return this.#refuse(response, result.reason);
    if (own) {
      this.#setCookie(response, 'demo_state', '', 0);
      return this.#openSession(response, result.email);
    }
    // The sign-in began in another browser: the visitor first confirms the address here.
    this.#setCookie(response, 'demo_pending', this.#signed.sign('pending', result.email, PENDING_SECONDS), PENDING_SECONDS);
    this.#redirect(response, '/demo/confirm');
  }

  confirmation(request: Request, response: Response): void {
    const email = this.#signed.verify('pending', cookieOf(request, 'demo_pending'));
    if (email) this.#send(response, confirmPage(email));
    else this.#redirect(response, '/demo');
  }

  /** SameSite=Lax keeps the cookie out of other sites' POST requests, so the request comes from the shop's own page. */
  confirm(request: Request, response: Response): void {
    const email = this.#signed.verify('pending', cookieOf(request, 'demo_pending'));
    this.#setCookie(response, 'demo_pending', '', 0);
    if (email) this.#openSession(response, email);
    else this.#refuse(response, 'missing');
  }

  signOut(_: Request, response: Response): void {
    this.#setCookie(response, 'demo_session', '', 0);
    this.#redirect(response, '/demo');
  }

  #openSession(response: Response, email: string): void {
    this.#setCookie(response, 'demo_session', this.#signed.sign('session', email, SESSION_SECONDS), SESSION_SECONDS);
    this.#redirect(response, '/demo');
  }

  #setCookie(response: Response, name: string, value: string, seconds: number): void {
    const { secure } = this.#config;
    response.cookie(name, value, { path: '/demo', httpOnly: true, sameSite: 'lax', secure, maxAge: seconds * 1000 });
  }

  #send(response: Response, page: Html, status = 200): void {
    response.status(status).set(this.#headers).type('html').send(page.html);
  }

  #refuse(response: Response, problem: Problem): void {
    this.#send(response, problemPage(problem), problem === 'unreachable' ? 502 : 400);
  }

  #redirect(response: Response, location: string): void {
    response.status(303).set(this.#headers).set('Location', location).end();
  }
}

function cookieOf(request: Request, name: string): string | undefined {
  return parse(request.headers.cookie ?? '')[name];
}

/** The result of a verification; `unreachable` when the service did not respond. */
type Verification = { email: string } | { reason: VerifyResponse['reason'] | 'unreachable' };
type VerifyResponse = { valid: boolean; email: string; domain: string; reason: 'used' | 'expired' | 'unknown' | 'other_domain' };

const VERIFY_TIMEOUT_MS = 3_000;
const MAX_VERIFY_TRIES = 2;

/**
 * Verifies a token with the service, as the server of every website does.
 * @param domain of this website; a token for another website is refused
 */
async function verifyToken(serviceUrl: string, token: string, domain: string): Promise<Verification> {
  const url = `${serviceUrl}/api/verify-token?${new URLSearchParams({ token, domain })}`;
  // The same key at every try: if the first response is lost, the second call returns it again.
  const headers = { 'Idempotency-Key': randomUUID() };
  for (let tries = 1; tries <= MAX_VERIFY_TRIES; tries++) {
    try {
      const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(VERIFY_TIMEOUT_MS) });
      if (response.status >= 500) continue;
      const body = (await response.json()) as Partial<VerifyResponse>;
      if (body.valid === true && body.domain === domain && body.email) return { email: body.email };
      return { reason: body.reason ?? 'unknown' };
    } catch {
      // No response: try again.
    }
  }
  return { reason: 'unreachable' };
}
