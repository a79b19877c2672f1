import { randomBytes } from 'node:crypto';
import { createPkce, type Pkce } from '../contract/pkce.ts';
import { WEB_CLIENT_ID } from '../contract/rules.ts';
import type { Answer, Client } from './client.ts';
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
export async function addSite(stage: Stage, service: Service, domain = freshDomain()): Promise<string> {
  const { client } = await signInDeveloper(stage, service);
  const answer = await client.post('/api/websites', { domain });
  if (answer.status !== 200) throw new Error(`Adding ${domain} returned ${answer.status}: ${answer.text}`);
  return domain;
}

/** Adds a website of a developer and proves its domain by DNS. @param names the DNS server of the service (DNS_SERVERS) */
export async function addProvenSite(names: NameServer, { client }: Developer, domain = freshDomain()): Promise<string> {
  await client.post('/api/websites', { domain });
  await proveSite(names, client, domain);
  return domain;
}

/** Publishes a developer's DNS record and requests the check. @throws Error unless the status is 200 */
export async function proveSite(names: NameServer, client: Client, domain: string): Promise<void> {
  const { proof } = (await client.get(`/api/websites/claim/${domain}`)).json;
  names.setText(proof.record, [proof.value]);
  const answer = await client.post('/api/websites/prove', { domain });
  if (answer.status !== 200) throw new Error(`Proving ${domain} returned ${answer.status}: ${answer.text}`);
}

/** Registers a website without a session, as the public form does. @returns the domain */
export async function registerSite(client: Client, domain = freshDomain(), email = freshAddress('owner')): Promise<string> {
  const answer = await client.post('/api/websites/register', { domain, email });
  if (answer.status !== 200) throw new Error(`Registering ${domain} returned ${answer.status}: ${answer.text}`);
  return domain;
}

/** Requests a visitor's sign-in email. @throws Error unless the status is 200 */
export async function askForMail(client: Client, email: string, forwardUrl?: string, language?: string): Promise<Answer> {
  const answer = await client.post('/api/auth/domain-auth', { email, forward_url: forwardUrl, language });
  if (answer.status !== 200) throw new Error(`domain-auth returned ${answer.status}: ${answer.text}`);
  return answer;
}

/** Opens an emailed link in the browser that requested it. @returns the Location of the redirect */
export async function openLink(client: Client, mail: ReceivedMail): Promise<string> {
  const answer = await client.get(mail.link);
  if (answer.status !== 303) throw new Error(`The link returned ${answer.status}: ${answer.text.slice(0, 300)}`);
  return String(answer.headers.location);
}

/** Enters the address for an emailed link in a browser that did not request it. */
export function confirmLink(client: Client, mail: ReceivedMail, email: string): Promise<Answer> {
  return client.post('/api/auth/confirm-link', { t: new URL(mail.link).searchParams.get('t'), email });
}

export function tokenOf(location: string): string {
  return new URL(location).searchParams.get('token') ?? '';
}

/** Signs a visitor in to a website. @returns the token for the website */
export async function visitorToken(stage: Stage, client: Client, domain: string, email = freshAddress()): Promise<string> {
  await askForMail(client, email, `https://${domain}/`);
  return tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
}

/** A started PKCE sign-in. */
export type Begun = { email: string; pkce: Pkce; attempt: string; answer: Answer };

/** Calls authorize as the portal does. @param changes parameters to replace; undefined omits one */
export async function authorize(client: Client, email = freshAddress('dev'), changes: Record<string, unknown> = {}): Promise<Begun> {
  const pkce = await createPkce();
  const answer = await client.post('/api/auth/authorize', {
    email,
    client_id: WEB_CLIENT_ID,
    redirect_uri: `${client.origin}/developer`,
    code_challenge: pkce.codeChallenge,
    code_challenge_method: 'S256',
    state: pkce.state,
    ...changes,
  });
  return { email, pkce, attempt: answer.json.attempt, answer };
}

/** Exchanges a code as the portal does. */
export function exchange(client: Client, code: string, codeVerifier: string): Promise<Answer> {
  return client.post('/api/auth/token', { code, code_verifier: codeVerifier, client_id: WEB_CLIENT_ID });
}

export function codeOf(mail: ReceivedMail): string {
  return new URL(mail.link).searchParams.get('code') ?? '';
}

/** A signed-in developer and the client with the session. */
export type Developer = { email: string; client: Client; authKey: string; localKey: string };

export async function signInDeveloper(stage: Stage, service: Service, email = freshAddress('dev')): Promise<Developer> {
  const client = service.client();
  const { pkce } = await authorize(client, email);
  const answer = await exchange(client, codeOf(await stage.mailbox.waitFor(email)), pkce.codeVerifier);
  if (answer.status !== 200) throw new Error(`The exchange returned ${answer.status}: ${answer.text}`);
  return { email, client, authKey: answer.json.authKey, localKey: answer.json.localKey };
}
