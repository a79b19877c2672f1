import { randomBytes } from 'node:crypto';
import { createPkce, type Pkce, WEB_CLIENT_ID } from '../contract/pkce.ts';
import type { Answer, Client } from './client.ts';
import type { NameServer } from './dns.ts';
import type { Service, Stage } from './harness.ts';
import type { ReceivedMail } from './mailbox.ts';

/** An address that no other test uses. */
export function freshAddress(name = 'ann'): string {
  return `${name}-${randomBytes(5).toString('hex')}@mail.example`;
}

/** A domain that no other test uses. */
export function freshDomain(): string {
  return `shop-${randomBytes(5).toString('hex')}.example`;
}

/** Adds a site as a developer who is signed in does, so that it has no cap on visitors. @returns the domain */
export async function addSite(stage: Stage, service: Service, domain = freshDomain()): Promise<string> {
  const { client } = await signInDeveloper(stage, service);
  const answer = await client.post('/api/websites', { domain });
  if (answer.status !== 200) throw new Error(`Adding ${domain} answered ${answer.status}: ${answer.text}`);
  return domain;
}

/** Adds a website of a developer and proves its domain by the DNS record. @param names what the service asks (DNS_SERVERS) */
export async function addProvenSite(names: NameServer, { client }: Developer, domain = freshDomain()): Promise<string> {
  await client.post('/api/websites', { domain });
  await proveSite(names, client, domain);
  return domain;
}

/** Publishes a developer's DNS record and has the service check it. @throws Error unless the answer is 200 */
export async function proveSite(names: NameServer, client: Client, domain: string): Promise<void> {
  const { proof } = (await client.get(`/api/websites/claim/${domain}`)).json;
  names.setText(proof.record, [proof.value]);
  const answer = await client.post('/api/websites/prove', { domain });
  if (answer.status !== 200) throw new Error(`Proving ${domain} answered ${answer.status}: ${answer.text}`);
}

/** Registers a domain through the public form's call: active at once, on probation. @returns the domain */
export async function registerSite(client: Client, domain = freshDomain(), email = freshAddress('owner')): Promise<string> {
  const answer = await client.post('/api/websites/register', { domain, email });
  if (answer.status !== 200) throw new Error(`Registering ${domain} answered ${answer.status}: ${answer.text}`);
  return domain;
}

/** Asks for a visitor's mail. @throws Error unless the answer is 200 */
export async function askForMail(client: Client, email: string, forwardUrl?: string, language?: string): Promise<Answer> {
  const answer = await client.post('/api/auth/domain-auth', { email, forward_url: forwardUrl, language });
  if (answer.status !== 200) throw new Error(`domain-auth answered ${answer.status}: ${answer.text}`);
  return answer;
}

/** Opens a mailed link in the browser that asked for it. @returns the Location of the redirect */
export async function openLink(client: Client, mail: ReceivedMail): Promise<string> {
  const answer = await client.get(mail.link);
  if (answer.status !== 303) throw new Error(`The link answered ${answer.status}: ${answer.text.slice(0, 300)}`);
  return String(answer.headers.location);
}

/** Gives an address for a mailed link, in a browser that did not ask for it. */
export function confirmLink(client: Client, mail: ReceivedMail, email: string): Promise<Answer> {
  return client.post('/api/auth/confirm-link', { t: new URL(mail.link).searchParams.get('t'), email });
}

export function tokenOf(location: string): string {
  return new URL(location).searchParams.get('token') ?? '';
}

/** Signs a visitor in to a site and gives the token that the site would get. */
export async function visitorToken(stage: Stage, client: Client, domain: string, email = freshAddress()): Promise<string> {
  await askForMail(client, email, `https://${domain}/`);
  return tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
}

/** A developer's PKCE sign-in that waits for its link or code. */
export type Begun = { email: string; pkce: Pkce; attempt: string; answer: Answer };

/** Calls authorize as the portal's page does. `changes` replaces parameters; undefined leaves one out. */
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

/** Exchanges a code as the portal's page does. */
export function exchange(client: Client, code: string, codeVerifier: string): Promise<Answer> {
  return client.post('/api/auth/token', { code, code_verifier: codeVerifier, client_id: WEB_CLIENT_ID });
}

export function codeOf(mail: ReceivedMail): string {
  return new URL(mail.link).searchParams.get('code') ?? '';
}

/** A developer with a session, and the browser that holds it. */
export type Developer = { email: string; client: Client; authKey: string; localKey: string };

export async function signInDeveloper(stage: Stage, service: Service, email = freshAddress('dev')): Promise<Developer> {
  const client = service.client();
  const { pkce } = await authorize(client, email);
  const answer = await exchange(client, codeOf(await stage.mailbox.waitFor(email)), pkce.codeVerifier);
  if (answer.status !== 200) throw new Error(`The exchange answered ${answer.status}: ${answer.text}`);
  return { email, client, authKey: answer.json.authKey, localKey: answer.json.localKey };
}
