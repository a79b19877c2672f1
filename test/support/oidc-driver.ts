import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import type { AuthorizationStep, SignInBoot } from '../../contract/pages.ts';
import { createPkce, type Pkce } from '../../contract/pkce.ts';
import type { Client, HttpResponse } from './client.ts';
import type { Service, Stage } from './harness.ts';
import { type Developer, freshAddress } from './sign-ins.ts';

/** A client of OpenID Connect: what an app is configured with. `secret` is sent by client_secret_basic. */
export type OidcClient = { clientId: string; redirectUri: string; secret?: string };

/** An authorization request, and what its client keeps until the response. */
export type AuthorizationRequest = { client: OidcClient; pkce: Pkce; nonce: string; url: string };

/** The result of a visit to the authorization endpoint or of a later step of the sign-in. */
export type Step = {
  /** The last response of the service. */
  response: HttpResponse;
  /** The path and query of the last request. */
  at: string;
  /** Where the service redirects to outside of itself: the authorization response. */
  callback: URL | null;
  /** The id of the interaction whose page it is, or empty. */
  interaction: string;
  /** What the page shows: sign-in, consent, an error … */
  authorization: AuthorizationStep | null;
  boot: Partial<SignInBoot>;
};

/** A finished code flow. */
export type Grant = { request: AuthorizationRequest; email: string; callback: URL; tokens: Tokens };
type Tokens = { access_token: string; id_token: string; refresh_token?: string; token_type: string; scope: string };

/** A request's parameters to replace; undefined omits one. */
export type Changes = Record<string, string | undefined>;

const PARAMETERS =
  'state nonce scope login_hint ui_locales acr_values id_token_hint code_challenge claims prompt resource request client_id redirect_uri';
/** Changes that make an authorization request long, deep or malformed. */
export const longParameters: Changes[] = [
  ...PARAMETERS.split(' ').map((name) => ({ [name]: 'x'.repeat(12_000) })),
  { claims: `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}` },
  { scope: 'a '.repeat(6000) },
  { claims: '{"__proto__":{"x":1}}' },
  { state: '\0' },
  { login_hint: 'a\r\nSet-Cookie: sid=x' },
  { ui_locales: 'x-'.repeat(6000) },
];

/** Returns the client that a registered website is. */
export function websiteClient(domain: string): OidcClient {
  return { clientId: `https://${domain}`, redirectUri: `https://${domain}/callback` };
}

/** Creates an application of a developer. @param settings of `ClientInput` */
export async function addApplication({ client }: Developer, settings: Record<string, unknown> = {}): Promise<OidcClient & { id: string }> {
  const redirectUri = `https://app-${randomBytes(5).toString('hex')}.example/callback`;
  const response = await client.post('/api/clients', { name: 'Notes', redirectUris: [redirectUri], ...settings });
  if (response.status !== 200) throw new Error(`Adding an application returned ${response.status}: ${response.text}`);
  const { id, clientId, redirectUris, clientSecret } = response.json;
  return { id, clientId, redirectUri: redirectUris[0], secret: clientSecret };
}

/** Returns a new authorization request with PKCE, state and nonce. The default scope is `openid email`. */
export async function authorizationRequest(client: OidcClient, changes: Changes = {}): Promise<AuthorizationRequest> {
  const pkce = await createPkce();
  const nonce = randomBytes(16).toString('base64url');
  const parameters = {
    client_id: client.clientId,
    redirect_uri: client.redirectUri,
    response_type: 'code',
    scope: 'openid email',
    state: pkce.state,
    nonce,
    code_challenge: pkce.codeChallenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  return { client, pkce, nonce, url: `/oauth/authorize?${formOf(parameters)}` };
}

/** Opens a page of the service and follows its redirects within the service, like a browser. */
export async function visit(browser: Client, path: string): Promise<Step> {
  let at = path;
  for (let hops = 0; hops < 12; hops++) {
    const response = await browser.get(at);
    const { location } = response.headers;
    if (response.status < 300 || response.status > 399 || location === undefined) return step(response, at);
    const target = new URL(location, new URL(at, browser.origin));
    if (target.origin !== browser.origin && !isLoopbackOf(target, browser)) return { ...step(response, at), callback: target };
    at = target.pathname + target.search;
  }
  throw new Error(`Too many redirects from ${path}, last to ${at}`);
}

/** Returns the data of a page of the sign-in entry. */
export function bootOf({ text }: HttpResponse) {
  return JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/s.exec(text)?.[1] ?? '{}');
}

/** Instances on one database share the PUBLIC_URL of the first, so that links lead to it. */
const isLoopbackOf = (target: URL, browser: Client) =>
  target.hostname === new URL(browser.origin).hostname && /^\/(oauth|auth)\//.test(target.pathname);

function step(response: HttpResponse, at: string): Step {
  const boot = bootOf(response);
  const interaction = /^\/oauth\/interaction\/([\w-]+)/.exec(at)?.[1] ?? '';
  return { response, at, callback: null, interaction, authorization: boot.authorization ?? null, boot };
}

/** Requests the email of an interaction. */
export function requestInteractionEmail(browser: Client, interaction: string, email: string): Promise<HttpResponse> {
  return browser.post('/api/auth/domain-auth', { email, interaction });
}

/** Decides about consent, as the page does. */
export function decide(
  browser: Client,
  interaction: string,
  decision: 'allow' | 'deny' | 'other_account' = 'allow',
): Promise<HttpResponse> {
  return browser.post(`/oauth/interaction/${interaction}/decision`, { decision }, { Origin: browser.origin });
}

/** Opens a link or redirect of the service in a browser of any instance. */
export function visitUrl(browser: Client, url: string): Promise<Step> {
  const { pathname, search } = new URL(url, browser.origin);
  return visit(browser, pathname + search);
}

/**
 * Signs in at the page that `begun` has reached: email, link in the same browser, consent when the page asks for it.
 * @throws Error when it does not end with an authorization response
 */
export async function completeSignIn(stage: Pick<Stage, 'mailbox'>, browser: Client, begun: Step, email: string): Promise<URL> {
  let reached = begun;
  if (reached.authorization?.step === 'sign_in') {
    const asked = await requestInteractionEmail(browser, reached.interaction, email);
    if (asked.status !== 200) throw new Error(`domain-auth returned ${asked.status}: ${asked.text}`);
    reached = await visitUrl(browser, (await stage.mailbox.waitFor(email)).link);
  }
  if (reached.authorization?.step === 'consent') {
    const { status, json, text } = await decide(browser, reached.interaction);
    if (!json.redirectUrl) throw new Error(`The decision returned ${status}: ${text}`);
    reached = await visitUrl(browser, json.redirectUrl);
  }
  const { callback, at, response, boot } = reached;
  if (!callback) throw new Error(`The sign-in ended at ${at} with ${response.status}: ${JSON.stringify(boot.authorization ?? boot.link)}`);
  return callback;
}

/**
 * Calls a form-encoded endpoint of OAuth. @param client authenticates by client_secret_basic, or sends its client_id when it has no
 * secret @param parameters undefined omits one
 */
export function postForm(via: Client, path: string, client: OidcClient | null, parameters: Changes): Promise<HttpResponse> {
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  if (client?.secret) headers.Authorization = basic(client.clientId, client.secret);
  const own = client && !client.secret ? { client_id: client.clientId } : {};
  return via.send(path, { method: 'POST', headers, body: formOf({ ...own, ...parameters }) });
}

/** Returns an Authorization header of client_secret_basic (RFC 6749 §2.3.1). */
function basic(clientId: string, secret: string): string {
  return `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`;
}

/** Exchanges the code of an authorization response. */
export function exchangeCode(via: Client, request: AuthorizationRequest, callback: URL, changes: Changes = {}): Promise<HttpResponse> {
  return postForm(via, '/oauth/token', request.client, {
    grant_type: 'authorization_code',
    code: callback.searchParams.get('code') ?? '',
    redirect_uri: request.client.redirectUri,
    code_verifier: request.pkce.codeVerifier,
    ...changes,
  });
}

/** Uses a refresh token. */
export function refresh(via: Client, client: OidcClient, token: string | undefined, changes: Changes = {}): Promise<HttpResponse> {
  return postForm(via, '/oauth/token', client, { grant_type: 'refresh_token', refresh_token: token, ...changes });
}

/** Signs a person in at a client up to the authorization response, which nobody has used. */
export async function authorizeAt(
  stage: Stage,
  service: Service,
  client: OidcClient,
  { browser = service.client(), email = freshAddress(), changes = {} as Changes } = {},
): Promise<Omit<Grant, 'tokens'>> {
  const request = await authorizationRequest(client, changes);
  const callback = await completeSignIn(stage, browser, await visit(browser, request.url), email);
  if (callback.searchParams.has('error')) throw new Error(`The authorization response is an error: ${callback}`);
  return { request, email, callback };
}

/** Signs a person in at a client by a whole code flow. */
export async function signInAt(...input: Parameters<typeof authorizeAt>): Promise<Grant> {
  const granted = await authorizeAt(...input);
  // The access token is for the resource only when the token request names it too (RFC 8707 §2.2).
  const { resource } = input[3]?.changes ?? {};
  const response = await exchangeCode(input[1].client(), granted.request, granted.callback, { resource });
  if (response.status !== 200) throw new Error(`The token endpoint returned ${response.status}: ${response.text}`);
  return { ...granted, tokens: response.json };
}

export function userinfo(via: Client, accessToken: string): Promise<HttpResponse> {
  return via.get('/oauth/userinfo', { Authorization: `Bearer ${accessToken}` });
}

function formOf(parameters: Changes): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) form.append(name, value);
  return form.toString();
}

/** Asserts an error response of RFC 6749 §5.2 or RFC 6750 §3: status, code, a sentence, no-store, and no token. */
export function expectOauthError(response: HttpResponse, error: string, status = 400): void {
  const { status: actual, json, text, headers } = response;
  expect([actual, json.error, text]).toEqual([status, error, text]);
  expect(json.error_description).toEqual(expect.any(String));
  expect(headers['cache-control']).toContain('no-store');
  expect(Object.keys(json).filter((name) => /token|code/.test(name))).toEqual([]);
}
