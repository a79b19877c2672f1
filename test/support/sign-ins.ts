import { randomBytes } from 'node:crypto';
import { createPkce, type Pkce, WEB_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client, HttpResponse } from './client.ts';
import type { NameServer } from './dns.ts';
import type { Service, Stage } from './harness.ts';
import type { ReceivedMail } from './mailbox.ts';

/** Returns an email address that no other test uses. */
export function freshAddress(name = 'ann'): string {
  return `${name}-${randomBytes(5).toString('hex')}@mail.example`;
}

/** Returns a domain that no other test uses. */
export function freshDomain(): string {
  return `shop-${randomBytes(5).toString('hex')}.example`;
}

/** Adds a website as a signed-in developer, so that its visitors are not limited. @returns the domain */
export async function addWebsite(stage: Stage, service: Service, domain = freshDomain()): Promise<string> {
  const { client } = await signInDeveloper(stage, service);
  const response = await client.post('/api/websites', { domain });
  if (response.status !== 200) throw new Error(`Adding ${domain} returned ${response.status}: ${response.text}`);
  return domain;
}

/** Adds a website of a developer and verifies its domain by DNS. @param names the DNS server of the service (DNS_SERVERS) */
export async function addProvenWebsite(names: NameServer, { client }: Developer, domain = freshDomain()): Promise<string> {
  await client.post('/api/websites', { domain });
  await proveWebsite(names, client, domain);
  return domain;
}

/** Publishes a developer's DNS record and requests the check. @throws Error unless the status is 200 */
export async function proveWebsite(names: NameServer, client: Client, domain: string): Promise<void> {
  const { proof } = (await client.get(`/api/websites/claim/${domain}`)).json;
  names.setText(proof.record, [proof.value]);
  const response = await client.post('/api/websites/prove', { domain });
  if (response.status !== 200) throw new Error(`Proving ${domain} returned ${response.status}: ${response.text}`);
}

/** Registers a website without a session, as the public form does. @returns the domain */
export async function registerWebsite(client: Client, domain = freshDomain(), email = freshAddress('owner')): Promise<string> {
  const response = await client.post('/api/websites/register', { domain, email });
  if (response.status !== 200) throw new Error(`Registering ${domain} returned ${response.status}: ${response.text}`);
  return domain;
}

/** Requests a visitor's sign-in email. @throws Error unless the status is 200 */
export async function requestEmail(client: Client, email: string, forwardUrl?: string, language?: string): Promise<HttpResponse> {
  const response = await client.post('/api/auth/domain-auth', { email, forward_url: forwardUrl, language });
  if (response.status !== 200) throw new Error(`domain-auth returned ${response.status}: ${response.text}`);
  return response;
}

/** Opens an emailed link in the browser that requested it. @returns the Location of the redirect */
export async function openLink(client: Client, mail: ReceivedMail): Promise<string> {
  const response = await client.get(mail.link);
  if (response.status !== 303) throw new Error(`The link returned ${response.status}: ${response.text.slice(0, 300)}`);
  return String(response.headers.location);
}

/** Enters the address for an emailed link in a browser that did not request it. */
export function confirmLink(client: Client, mail: ReceivedMail, email: string): Promise<HttpResponse> {
  return client.post('/api/auth/confirm-link', { t: new URL(mail.link).searchParams.get('t'), email });
}

export function tokenOf(location: string): string {
  return new URL(location).searchParams.get('token') ?? '';
}

/** Signs a visitor in to a website. @returns the token for the website */
export async function visitorToken(stage: Stage, client: Client, domain: string, email = freshAddress()): Promise<string> {
  await requestEmail(client, email, `https://${domain}/`);
  return tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
}

/** A started PKCE sign-in. */
export type Begun = { email: string; pkce: Pkce; attempt: string; response: HttpResponse };

/** Calls authorize as the portal does. @param changes parameters to replace; undefined omits one */
export async function authorize(client: Client, email = freshAddress('dev'), changes: Record<string, unknown> = {}): Promise<Begun> {
  const pkce = await createPkce();
  const response = await client.post('/api/auth/authorize', {
    email,
    client_id: WEB_CLIENT_ID,
    redirect_uri: `${client.origin}/developer`,
    code_challenge: pkce.codeChallenge,
    code_challenge_method: 'S256',
    state: pkce.state,
    ...changes,
  });
  return { email, pkce, attempt: response.json.attempt, response };
}

/** Exchanges a code as the portal does. */
export function exchange(client: Client, code: string, codeVerifier: string): Promise<HttpResponse> {
  return client.post('/api/auth/token', { code, code_verifier: codeVerifier, client_id: WEB_CLIENT_ID });
}

export function codeOf(mail: ReceivedMail): string {
  return new URL(mail.link).searchParams.get('code') ?? '';
}

/** A signed-in developer and the client with the session. */
export type Developer = { email: string; client: Client; authKey: string; localKey: string };

export async function signInDeveloper(
  stage: Pick<Stage, 'mailbox'>,
  service: Pick<Service, 'client'>,
  email = freshAddress('dev'),
): Promise<Developer> {
  const client = service.client();
  const { pkce } = await authorize(client, email);
  const response = await exchange(client, codeOf(await stage.mailbox.waitFor(email)), pkce.codeVerifier);
  if (response.status !== 200) throw new Error(`The exchange returned ${response.status}: ${response.text}`);
  return { email, client, authKey: response.json.authKey, localKey: response.json.localKey };
}
