import type { Client, HttpResponse } from './client.ts';
import type { Stage } from './harness.ts';
import { authorizationRequest, bootOf, decide, requestInteractionEmail } from './oidc-driver.ts';
import { freshAddress, openLink, tokenOf } from './sign-ins.ts';

/** The redirect URI of the applications of the tests. */
export const REDIRECT = 'https://app.example/callback';

export type AuthorizationRequest = { clientId: string; redirectUri?: string; scope?: string; parameters?: Record<string, string> };

/** An authorization request that shows its first page, or that was answered. */
export type BegunRequest = AuthorizationRequest & {
  redirectUri: string;
  nonce: string;
  state: string;
  verifier: string;
  /** The parameters, encoded. */
  query: string;
  /** The response to GET /oauth/authorize. */
  response: HttpResponse;
  /** The page to which it redirected; the response itself when it redirected to the client. */
  page: HttpResponse;
  /** The id of the interaction; empty when there is none. */
  uid: string;
};

/** Follows redirects within the service. @returns the last response */
export async function follow(client: Client, response: HttpResponse): Promise<HttpResponse> {
  const { location } = response.headers;
  if (!location || !new URL(location, client.origin).href.startsWith(client.origin)) return response;
  const { pathname, search } = new URL(location, client.origin);
  return follow(client, await client.get(pathname + search));
}

/** Sends an authorization request with PKCE and opens its page. */
export async function begin(client: Client, request: AuthorizationRequest): Promise<BegunRequest> {
  const { clientId, redirectUri = REDIRECT, scope = 'openid email', parameters = {} } = request;
  const { pkce, nonce, url } = await authorizationRequest({ clientId, redirectUri }, { scope, ...parameters });
  const response = await client.get(url);
  const page = await follow(client, response);
  const uid = /\/oauth\/interaction\/([\w-]+)/.exec(response.headers.location ?? '')?.[1] ?? '';
  const query = url.slice(url.indexOf('?') + 1);
  return { ...request, redirectUri, nonce, state: pkce.state, verifier: pkce.codeVerifier, query, response, page, uid };
}

export type Answer = { code: string; iss: string | null; state: string | null; error: string | null };

/** Returns the parameters of the response at the redirect URI. */
export function answerOf(response: HttpResponse): Answer {
  const location = response.headers.location ?? '';
  if (!URL.canParse(location)) throw new Error(`No redirect: ${response.status} ${response.text.slice(0, 2000)}`);
  const { searchParams } = new URL(location);
  const [code, iss, state, error] = ['code', 'iss', 'state', 'error'].map((name) => searchParams.get(name));
  return { code: code ?? '', iss, state, error };
}

/** Allows what a consent page asks for. @returns the response at the redirect URI */
export async function allow(client: Client, page: HttpResponse): Promise<HttpResponse> {
  const { authorization, target } = bootOf(page);
  if (authorization?.step !== 'consent') return page;
  const decided = await decide(client, target.interaction);
  return follow(client, await client.get(decided.json.redirectUrl));
}

/** Requests the email of an interaction, opens its link in the same browser and gives consent where it is asked for. */
export async function continueByLink(stage: Stage, client: Client, { uid }: BegunRequest, email: string): Promise<Answer> {
  const sent = await requestInteractionEmail(client, uid, email);
  if (sent.status !== 200) throw new Error(`domain-auth returned ${sent.status}: ${sent.text}`);
  const location = await openLink(client, await stage.mailbox.waitFor(email));
  if (!tokenOf(location)) throw new Error(`The link redirected to ${location}`);
  return answerOf(await allow(client, await follow(client, await client.get(location))));
}

/** Exchanges a code as a public client. */
export function exchangeCode(
  client: Client,
  begun: BegunRequest,
  code: string,
  changes: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const { clientId, redirectUri, verifier } = begun;
  const fields = { grant_type: 'authorization_code', client_id: clientId, redirect_uri: redirectUri, code, code_verifier: verifier };
  return postForm(client, '/oauth/token', { ...fields, ...changes }, headers);
}

export function postForm(
  client: Client,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<HttpResponse> {
  const body = new URLSearchParams(fields).toString();
  return client.send(path, { method: 'POST', body, headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers } });
}

/** Signs a person in to a client. @returns the tokens, and what led to them */
export async function signIn(stage: Stage, client: Client, request: AuthorizationRequest & { email?: string }) {
  const email = request.email ?? freshAddress();
  const begun = await begin(client, request);
  const isSignIn = bootOf(begun.page).authorization?.step === 'sign_in';
  const { code } = isSignIn ? await continueByLink(stage, client, begun, email) : answerOf(await allow(client, begun.page));
  const response = await exchangeCode(client, begun, code);
  if (response.status !== 200) throw new Error(`token returned ${response.status}: ${response.text}`);
  return { email, begun, code, tokens: response.json };
}
