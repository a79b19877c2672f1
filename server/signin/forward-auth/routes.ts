import { type Request, type Response, Router } from 'express';
import { Fault } from '../../../contract/errors.ts';
import { clientAddressOf } from '../../platform/http/client-address.ts';
import { queryOf } from '../../platform/http/reading.ts';
import {
  type Decision,
  ForwardAuth,
  MAX_SESSION_SECONDS,
  type Policy,
  readAllowed,
  SessionCookies,
  SIGN_OUT_PATH,
} from './forward-auth.ts';
import { readOriginalRequest } from './original-request.ts';

type Parts = ConstructorParameters<typeof ForwardAuth>[0] & {
  isLocal: boolean;
  trustProxy: number;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

const DEFAULT_MAX_AGE_SECONDS = 86_400;
const MIN_MAX_AGE_SECONDS = 60;

/**
 * Forward authentication. `/api/forward-auth/HOST` is for Caddy and Traefik, which pass every response but 2xx on to the browser, and for
 * the reserved paths of an app. `/api/forward-auth/nginx/HOST` is for `auth_request` of nginx, which accepts only 2xx, 401 and 403: its
 * configuration turns a 401 with a Location into a redirect.
 */
export function forwardAuthRouter({ isLocal, trustProxy, headers, ...parts }: Parts): Router {
  const auth = new ForwardAuth(parts);
  const router = Router();
  router.all(/^\/api\/forward-auth(?:\/|$)/, async (request, response) => {
    const [, nginx, app = ''] = /^\/api\/forward-auth(\/nginx)?(?:\/(.*))?$/.exec(request.path) ?? [];
    const original = readOriginalRequest(app, request, isLocal);
    const cookies = new SessionCookies(request.headers.cookie, original);
    const decision = await auth.decide(original, cookies, policyOf(request), clientAddressOf(request, trustProxy));
    send(response.set(headers), decision, original.host, nginx ? 401 : 302);
  });
  return router;
}

/** @throws Fault bad_request, so that a mistake in the configuration lets no one in */
function policyOf(request: Request): Policy {
  const { allow, max_age, ...others } = queryOf(request);
  const [other] = Object.keys(others);
  if (other !== undefined) throw new Fault('bad_request', { field: other, message: 'The parameters are allow and max_age.' });
  const allowed = allow === undefined ? null : readAllowed([allow].flat().flatMap((entry) => entry.split(',')));
  if (allow !== undefined && !allowed?.length)
    throw new Fault('bad_request', { field: 'allow', message: 'allow has to be a list of email addresses and domains.' });
  const maxAgeSeconds = max_age === undefined ? DEFAULT_MAX_AGE_SECONDS : Number(max_age);
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < MIN_MAX_AGE_SECONDS || maxAgeSeconds > MAX_SESSION_SECONDS) {
    const message = `max_age has to be ${MIN_MAX_AGE_SECONDS} to ${MAX_SESSION_SECONDS} seconds.`;
    throw new Fault('bad_request', { field: 'max_age', message });
  }
  return { allow: allowed, maxAgeSeconds };
}

function send(response: Response, decision: Decision, host: string, redirectStatus: 302 | 401): void {
  if (decision.kind === 'allowed') {
    response.set({ 'Remote-User': decision.email, 'Remote-Email': decision.email }).status(200).end();
    return;
  }
  if (decision.kind === 'refused') {
    response.set(PAGE_HEADERS).status(403).send(refusalPage(decision, host));
    return;
  }
  if (decision.url === null) throw new Fault('sign_in_needed');
  const isReserved = decision.kind === 'redirect';
  response.setHeader('Set-Cookie', decision.cookies);
  response
    .status(isReserved ? 302 : redirectStatus)
    .set('Location', decision.url)
    .end();
}

type Refused = Extract<Decision, { kind: 'refused' }>;

/** The page has no script and no style of its own. */
const PAGE_HEADERS = { 'Content-Type': 'text/html; charset=utf-8', 'X-Robots-Tag': 'noindex' };

/** Returns the page of a request that is refused, on the host of the app. */
function refusalPage({ reason, email = '' }: Refused, host: string): string {
  const [title, text, link] = {
    not_registered: ['This site cannot sign anyone in', `${host} is not registered. Its operator has to register the domain first.`, ''],
    not_allowed: [
      'You may not open this site',
      `You are signed in as ${email}, and this address is not on the list of ${host}.`,
      `<a href="${SIGN_OUT_PATH}">Sign in with another address</a>`,
    ],
    other_browser: [
      'This sign-in began in another browser',
      `Nothing has happened. Open ${host} here, and sign in again.`,
      `<a href="/">Open ${escapeHtml(host)}</a>`,
    ],
  }[reason];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><h1>${title}</h1><p>${escapeHtml(text)}</p><p>${link}</p></body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
