import { randomUUID } from 'node:crypto';
import { parse } from 'cookie';
import { type Request, type Response, Router } from 'express';
import { languageOf } from '../../contract/languages.ts';
import type { Config } from '../config.ts';
import { registrableOf } from '../websites/domains.ts';
import type { Html } from './html.ts';
import { confirmPage, homePage, ICON, type Problem, problemPage } from './pages.ts';
import { createSeals } from './seals.ts';
import { STYLE } from './style.ts';
import { verifyToken } from './verification.ts';

const STATE_SECONDS = 20 * 60;
const PENDING_SECONDS = 10 * 60;
const SESSION_SECONDS = 24 * 3600;

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'same-origin',
};

/**
 * A small shop that signs its visitors in as a stranger's site does: it has cookies of its own, and learns of the sign-in
 * core only what its server asks over HTTP. Local mode only.
 */
export function demoRouter({
  config,
  headers,
}: {
  config: Pick<Config, 'publicUrl' | 'secretKey' | 'secure' | 'smtpUrl'>;
  /** Headers of every answer that is data. */
  headers: Record<string, string>;
}): Router {
  const { publicUrl, secure } = config;
  const headersOfPage = { ...headers, ...HEADERS };
  const seals = createSeals(config.secretKey);
  const { hostname } = new URL(publicUrl);
  const domain = registrableOf(hostname) ?? hostname;
  const inbox = config.smtpUrl === null;
  const router = Router();

  const cookieOf = (request: Request, name: string) => parse(request.headers.cookie ?? '')[name];
  const setCookie = (response: Response, name: string, value: string, seconds: number) =>
    void response.cookie(name, value, { path: '/demo', httpOnly: true, sameSite: 'lax', secure, maxAge: seconds * 1000 });
  const dropCookie = (response: Response, name: string) => setCookie(response, name, '', 0);
  const send = (response: Response, page: Html, status = 200) =>
    void response.status(status).set(headersOfPage).type('html').send(page.html);
  const refuse = (response: Response, problem: Problem) => send(response, problemPage(problem), problem === 'unreachable' ? 502 : 400);
  const go = (response: Response, location: string) => void response.status(303).set(headersOfPage).set('Location', location).end();
  const openSession = (response: Response, email: string) => {
    setCookie(response, 'demo_session', seals.seal('session', email, SESSION_SECONDS), SESSION_SECONDS);
    go(response, '/demo');
  };

  router.get('/demo', (request, response) => {
    send(response, homePage({ email: seals.open('session', cookieOf(request, 'demo_session')), inbox, domain }));
  });

  router.get('/demo/style.css', (_, response) => {
    response
      .set({ ...headers, 'Cache-Control': 'no-cache' })
      .type('css')
      .send(STYLE);
  });

  router.get('/demo/icon.svg', (_, response) => {
    response
      .set({ ...headers, 'Cache-Control': 'no-cache' })
      .type('svg')
      .send(ICON);
  });

  // The state ties the visitor's return to this browser, so that nobody can sign somebody else in to an account of their own.
  router.get('/demo/sign-in', (request, response) => {
    const known = cookieOf(request, 'demo_state');
    const state = seals.open('state', known) && known ? known : seals.seal('state', randomUUID(), STATE_SECONDS);
    setCookie(response, 'demo_state', state, STATE_SECONDS);
    const forwardUrl = `${publicUrl}/demo/callback?state=${state}`;
    go(response, `${publicUrl}/auth?${new URLSearchParams({ forward_url: forwardUrl, language: languageOf(request.query.language) })}`);
  });

  router.get('/demo/callback', async (request, response) => {
    const { state, token } = request.query;
    if (typeof token !== 'string' || typeof state !== 'string' || token === '') return refuse(response, 'missing');
    const own = cookieOf(request, 'demo_state');
    if (!seals.open('state', state) || (own && own !== state)) return refuse(response, 'wrong_state');
    const verdict = await verifyToken(publicUrl, token, domain);
    if ('reason' in verdict) return refuse(response, verdict.reason);
    if (own) {
      dropCookie(response, 'demo_state');
      return openSession(response, verdict.email);
    }
    // Begun in another browser: nobody is signed in here before having seen as whom.
    setCookie(response, 'demo_pending', seals.seal('pending', verdict.email, PENDING_SECONDS), PENDING_SECONDS);
    go(response, '/demo/confirm');
  });

  router.get('/demo/confirm', (request, response) => {
    const email = seals.open('pending', cookieOf(request, 'demo_pending'));
    if (email) send(response, confirmPage(email));
    else go(response, '/demo');
  });

  // SameSite=Lax keeps the cookie out of another site's POST, so only a click on our own page gets here with it.
  router.post('/demo/confirm', (request, response) => {
    const email = seals.open('pending', cookieOf(request, 'demo_pending'));
    dropCookie(response, 'demo_pending');
    if (email) openSession(response, email);
    else refuse(response, 'missing');
  });

  router.post('/demo/sign-out', (_, response) => {
    dropCookie(response, 'demo_session');
    go(response, '/demo');
  });

  return router;
}
