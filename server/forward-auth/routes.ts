import { type Request, type Response, Router } from 'express';
import { Fault } from '../../contract/errors.ts';
import { clientAddressOf, queryOf } from '../http/reading.ts';
import { type Decision, ForwardAuth, type Policy, readAllowed } from './forward-auth.ts';
import { readOriginalRequest } from './original-request.ts';
import { PAGE_HEADERS, refusalPage } from './refusal-page.ts';
import { SessionCookies } from './session-cookies.ts';

type Parts = ConstructorParameters<typeof ForwardAuth>[0] & {
  local: boolean;
  trustProxy: number;
  /** Headers of every response that is data. */
  headers: Record<string, string>;
};

const DEFAULT_MAX_AGE_SECONDS = 86_400;
const MAX_MAX_AGE_SECONDS = 30 * 86_400;

/**
 * Forward authentication. `/api/forward-auth` is for Caddy and Traefik, which pass every response but 2xx on to the browser, and for the
 * reserved paths of an app. `/api/forward-auth/nginx` is for `auth_request` of nginx, which accepts only 2xx, 401 and 403: its
 * configuration turns a 401 with a Location into a redirect.
 */
export function forwardAuthRouter({ local, trustProxy, headers, ...parts }: Parts): Router {
  const auth = new ForwardAuth(parts);
  const router = Router();
  const answer = async (request: Request, response: Response, redirectStatus: 302 | 401) => {
    const original = readOriginalRequest(request, local);
    const cookies = new SessionCookies(request.headers.cookie, original);
    const decision = await auth.decide(original, cookies, policyOf(request), clientAddressOf(request, trustProxy));
    send(response.set(headers), decision, original.host, redirectStatus);
  };
  router.all('/api/forward-auth', (request, response) => answer(request, response, 302));
  router.all('/api/forward-auth/nginx', (request, response) => answer(request, response, 401));
  return router;
}

/** @throws Fault bad_request, so that a mistake in the configuration lets nobody in */
function policyOf(request: Request): Policy {
  const { allow, max_age } = queryOf(request);
  const allowed = allow === undefined ? null : readAllowed([allow].flat().flatMap((entry) => entry.split(',')));
  if (allow !== undefined && !allowed?.length)
    throw new Fault('bad_request', { field: 'allow', message: 'allow has to be a list of email addresses and domains.' });
  const maxAgeSeconds = max_age === undefined ? DEFAULT_MAX_AGE_SECONDS : Number(max_age);
  if (!Number.isInteger(maxAgeSeconds) || maxAgeSeconds < 60 || maxAgeSeconds > MAX_MAX_AGE_SECONDS)
    throw new Fault('bad_request', { field: 'max_age', message: `max_age has to be 60 to ${MAX_MAX_AGE_SECONDS} seconds.` });
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
