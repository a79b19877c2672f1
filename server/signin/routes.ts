import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { languageOf } from '../../contract/languages.ts';
import type { SignInBoot } from '../../contract/pages.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Limits } from '../http/limits.ts';
import { bearerOf, queryOf } from '../http/reading.ts';
import { type Caller, type Served, serve } from '../http/serve.ts';
import { uploadPath } from '../uploads/upload-url.ts';
import type { LinkPage } from './link-page.ts';
import { blankRemembered, rememberAccount } from './remembered.ts';
import { isRandomSecret, randomSecret } from './secrets.ts';
import type { NewSession, Sessions } from './sessions.ts';
import type { Browser, SignedIn, SignIn, Target } from './signin.ts';

// Parsing a host of many different characters takes quadratic time (Punycode, RFC 3492).
const MAX_URL_LENGTH = 2048;

type Visit = { clientAddress: string; cookies: Cookies; header(name: string): string | undefined };

/** The calls of the sign-in core. */
export function signInRoutes(
  signin: SignIn,
  sessions: Sessions,
  limits: Limits,
  /** @returns whose API key an Authorization header holds, undefined when it holds none. @throws Fault bad_api_key, test_key */
  keyOwnerOf: (authorization: string) => Promise<string | undefined>,
): Served[] {
  // An application's token is no session of the browser's, even when it stands in its cookie.
  const sessionOf = async (cookies: Cookies) => {
    const sid = cookies.get('sid');
    const user = isRandomSecret(sid) ? await sessions.accountOf(sid) : null;
    return user?.clientId === null ? user : null;
  };

  // A good token is always answered: somebody else's bad ones, sent through the same site, must not stop its visitors.
  const verify = async (
    { token, domain }: { token: string; domain?: string },
    { clientAddress, header }: Caller<'verifyToken' | 'verifyTokenByPost'>,
  ) => {
    const authorization = header('authorization');
    const owner = authorization === undefined ? undefined : await keyOwnerOf(authorization);
    const verdict = await signin.verify(token, domain, header('idempotency-key'), owner);
    if (verdict.valid) return { email: verdict.email, valid: true as const, domain: verdict.host };
    limits.refuseBlocked('failed_verify', clientAddress);
    await limits.hit('failed_verify', clientAddress);
    return { email: null, valid: false as const, reason: verdict.reason };
  };

  return [
    serve('domainAuth', (input, caller) => signin.start(input, browserOf(caller, 'renew'))),
    serve('attempt', async ({ email }, caller) => ({ status: await signin.attemptStatus(email, browserOf(caller)) })),
    serve('confirmLink', async (input, caller) => {
      // An application remembers nobody in the browser: only its own program goes on.
      const redirectUrl = await sessions.confirmApplicationLink(input);
      return redirectUrl ? { redirectUrl } : remember(caller.cookies, await signin.confirmLink(input, browserOf(caller)));
    }),
    serve('confirmBrowser', async (input, caller) => {
      await signin.confirmBrowser(input, browserOf(caller, 'renew'));
      return { success: true };
    }),
    serve('emailCode', async (input, caller) => {
      const entered = await signin.enterCode(input, browserOf(caller));
      return 'code' in entered ? entered : remember(caller.cookies, entered);
    }),
    serve('verifyToken', verify),
    serve('verifyTokenByPost', verify),
    serve('authorize', (input, caller) => sessions.authorize(input, browserOf(caller, 'renew'))),
    serve('token', async (input, caller) => {
      if (sessions.isApplicationId(input.client_id)) return sessions.exchangeForApplication(input);
      const browser = browserOf(caller, 'renew');
      const session = openSession(caller.cookies, await sessions.exchange(input, browser));
      return sessions.tokenAnswer(session, input.client_id, browser.device);
    }),
    serve('validateKey', async (input, caller) => {
      const { email, authKey, redirectUrl } = await signin.quickLogin(input, browserOf(caller, 'renew'));
      // Another tab has got the next key; to set the old one again would end its family.
      if (authKey === null) return { redirectUrl };
      return { ...remember(caller.cookies, { email, authKey, redirectUrl }), ...(authKey !== input.key && { key: authKey }) };
    }),
    serve('tokenLogin', async (input, caller) => {
      const session = await sessions.tokenLogin(input, browserOf(caller, 'renew'), await sessionOf(caller.cookies));
      return { success: true, email: openSession(caller.cookies, session).email };
    }),
    serve('logout', async (_input, { cookies, header }) => {
      const isApplication = await sessions.logout(bearerOf(header('authorization')) ?? cookies.get('sid'), cookies.get('device'));
      if (isApplication) return { success: true };
      cookies.set('sid', null);
      blankRemembered(cookies);
      return { success: true };
    }),
  ];
}

/**
 * GET /auth/link?t=…: the one GET that consumes, and only in the browser that asked for the mail. HEAD, prefetches and every
 * other browser get a page instead.
 */
export function linkListener(parts: {
  signin: SignIn;
  describeLink(secret: string): Promise<LinkPage>;
  visitOf(request: IncomingMessage, response: ServerResponse): Visit;
  sendPage(response: ServerResponse, boot: Omit<SignInBoot, 'texts'>): void;
  /** Headers of the redirect. */
  headers: Record<string, string>;
}) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { t, language } = queryOf(request);
    const secret = typeof t === 'string' ? t : '';
    const visit = parts.visitOf(request, response);
    const asked = request.method === 'GET' && !isPrefetch(request) && isRandomSecret(visit.cookies.get('attempt'));
    const signedIn = asked ? await parts.signin.openLink(secret, browserOf(visit)) : null;
    if (!signedIn) {
      // The page speaks the mail's language, unless another one is chosen on it.
      const page = await parts.describeLink(secret);
      parts.sendPage(response, language === undefined ? page : { ...page, language: languageOf(language) });
      return;
    }
    remember(visit.cookies, signedIn);
    response.writeHead(303, {
      ...parts.headers,
      // Express would encode the URL anew; a header is latin1, so that these are the bytes that came.
      Location: Buffer.from(signedIn.redirectUrl).toString('latin1'),
      'Content-Length': 0,
    });
    response.end();
  };
}

/** What the sign-in page is for, by its forward_url. */
export function pageTarget(
  signin: Pick<SignIn, 'targetOf'>,
  registeredSite: (domain: string) => Promise<{ icon: string | null } | null>,
  display: (host: string) => string,
) {
  return async (forwardUrl: string | string[] | undefined): Promise<SignInBoot['target']> => {
    let target: Target;
    try {
      target = signin.targetOf(Array.isArray(forwardUrl) ? '' : forwardUrl);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const host = hostOf(String(forwardUrl));
      return { kind: 'unsupported', host, displayHost: display(host), reason: 'bad_forward_url' };
    }
    if (target.kind === 'portal') return { kind: 'portal' };
    const hosts = { host: target.host, displayHost: display(target.host) };
    const site = await registeredSite(target.domain);
    if (!site) return { kind: 'unsupported', ...hosts, reason: 'not_registered' };
    return { kind: 'site', ...hosts, iconUrl: site.icon && uploadPath(site.icon) };
  };
}

/** Returns the host of a URL, and nothing else of it, for a page; empty for a URL that is too long to be one of a site. */
function hostOf(text: string): string {
  return text.length <= MAX_URL_LENGTH && URL.canParse(text) ? new URL(text).hostname : '';
}

function isPrefetch(request: IncomingMessage): boolean {
  const purpose = `${request.headers['sec-purpose'] ?? ''} ${request.headers.purpose ?? ''} ${request.headers['x-purpose'] ?? ''} ${request.headers['x-moz'] ?? ''}`;
  return /prefetch|prerender|preview/i.test(purpose);
}

/** The browser's secrets. What it lacks is made and set; where a sign-in begins or a session opens, their lives begin anew. */
function browserOf({ clientAddress, cookies, header }: Visit, life: 'renew' | 'keep' = 'keep'): Browser {
  const secretOf = (name: 'attempt' | 'device') => {
    const known = cookies.get(name);
    const isKnown = isRandomSecret(known);
    const secret = isKnown ? known : randomSecret();
    if (life === 'renew' || !isKnown) cookies.set(name, secret);
    return secret;
  };
  const sid = cookies.get('sid');
  return {
    attempt: secretOf('attempt'),
    device: secretOf('device'),
    session: isRandomSecret(sid) ? sid : undefined,
    clientAddress,
    userAgent: header('user-agent') ?? '',
  };
}

function openSession(cookies: Cookies, session: NewSession): NewSession {
  cookies.set('sid', session.session);
  rememberAccount(cookies, session.email, session.authKey);
  return session;
}

function remember(cookies: Cookies, { email, authKey, redirectUrl }: SignedIn): { redirectUrl: string } {
  rememberAccount(cookies, email, authKey);
  return { redirectUrl };
}
