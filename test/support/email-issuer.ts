import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { type EvtClaims, type KeyBindingClaims, sdHashOf } from '../../server/signin/methods/evt.ts';
import { openAuthority } from './certificates.ts';
import type { NameServer } from './dns.ts';
import type { Service } from './harness.ts';
import { freshAddress } from './sign-ins.ts';
import { waitUntil } from './waiting.ts';

/** A key pair of an issuer, or of a browser. */
export type TokenKey = { alg: string; kid: string; privateKey: CryptoKey; jwk: JWK };

let keyCount = 0;

export async function newTokenKey(alg = 'ES256'): Promise<TokenKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  keyCount += 1;
  return { alg, kid: `key-${keyCount}`, privateKey, jwk: await exportJWK(publicKey) };
}

/** Headers and claims that replace those of a valid token; undefined removes one. */
type Changes = { header?: Partial<JWTHeaderParameters>; claims?: JWTPayload };

/** A token of the Email Verification Protocol, and what is wrong with it. */
export type TokenInput = {
  /** The origin of the issuer. */
  issuer: string;
  email: string;
  /** Of the website. */
  origin: string;
  nonce: string;
  issuerKey: TokenKey;
  browserKey: TokenKey;
  evt?: Changes;
  keyBinding?: Changes;
};

/** Returns a token as an issuer and a browser make one. */
export async function makeToken(input: TokenInput): Promise<string> {
  const evt = await makeEvt(input);
  return `${evt}~${await bindEvt(evt, input)}`;
}

/** Returns the token that the issuer signs. */
export async function makeEvt({
  issuer,
  email,
  issuerKey,
  browserKey,
  evt = {},
}: Pick<TokenInput, 'issuer' | 'email' | 'issuerKey' | 'evt'> & { browserKey: Pick<TokenKey, 'jwk'> }): Promise<string> {
  const claims: EvtClaims = { iss: issuer, iat: seconds(), cnf: { jwk: browserKey.jwk }, email, email_verified: true };
  const header = { alg: issuerKey.alg, kid: issuerKey.kid, typ: 'evt+jwt', ...evt.header };
  return new SignJWT({ ...claims, ...evt.claims }).setProtectedHeader(header).sign(issuerKey.privateKey);
}

/** Returns the key binding of a browser. */
export async function bindEvt(evt: string, { origin, nonce, browserKey, keyBinding = {} }: TokenInput): Promise<string> {
  const claims: KeyBindingClaims = { aud: origin, iat: seconds(), nonce, sd_hash: sdHashOf(evt) };
  const header = { alg: browserKey.alg, typ: 'kb+jwt', ...keyBinding.header };
  return new SignJWT({ ...claims, ...keyBinding.claims }).setProtectedHeader(header).sign(browserKey.privateKey);
}

/** Returns the data of a page of the service. */
export const bootOf = (html: string) => JSON.parse(/<script type="application\/json" id="boot">(.*?)<\/script>/.exec(html)?.[1] ?? '{}');

/** Returns an address of the mail domain that no test has used. */
export const addressAt = (domain: string) => freshAddress().replace(/@.*/, `@${domain}`);

/**
 * Signs people in until the service verifies a token of the issuer. The first one also loads code and keys, which may take longer than
 * the service waits on a busy machine.
 */
export async function loadIssuer(service: Service, names: NameServer, issuer: EmailIssuer, forwardUrl: string): Promise<void> {
  await waitUntil('a token is verified', 60_000, async () => {
    const client = service.client();
    const email = addressAt(delegatedDomain(names, issuer.record));
    const page = await client.get(`/auth?forward_url=${encodeURIComponent(forwardUrl)}`);
    // On a busy machine the page may be one of an error.
    const nonce = bootOf(page.text).verification?.nonce;
    if (nonce === undefined) return `no nonce, status ${page.status}`;
    const browserKey = await newTokenKey('Ed25519');
    const token = await makeToken({ issuer: issuer.origin, email, origin: service.url, nonce, issuerKey: issuer.key, browserKey });
    const response = await client.post('/api/auth/verified-email', { email, token, forward_url: forwardUrl });
    return response.json.redirectUrl !== null || response.text;
  });
}

const seconds = () => Math.floor(Date.now() / 1000);

/** An issuer of verified addresses on this machine, which a service in local mode may ask. */
export type EmailIssuer = {
  origin: string;
  /** What the record of a mail domain contains. */
  record: string;
  key: TokenKey;
  /** The addresses that are signed in, in any browser that has opened `/login`. */
  accounts: string[];
  /** The paths of the received requests. */
  requests: string[];
  /** Responses by path that replace those of an issuer: JSON, a status, or `hang` for none. */
  responses: Map<string, object | number | 'hang'>;
  close(): Promise<void>;
};

/** Starts an issuer at a port of localhost, with TLS. */
export async function openEmailIssuer(): Promise<EmailIssuer> {
  const authority = await openAuthority();
  const certificate = await authority.issue('localhost', 1);
  await authority.close();
  const key = await newTokenKey('ES256');
  const issuer = { key, accounts: [] as string[], requests: [] as string[], responses: new Map() as EmailIssuer['responses'] };
  const server = createServer(certificate, async (request, response) => {
    const path = (request.url ?? '').split('?')[0];
    issuer.requests.push(path);
    const replaced = issuer.responses.get(path);
    if (replaced === 'hang') return;
    const found = replaced ?? (await answerOf(path, request));
    // The Login Status API: the browser asks only issuers at which somebody is signed in.
    const headers = path === '/login' ? { 'Set-Login': 'logged-in', 'Set-Cookie': 'session=1; SameSite=None; Secure; HttpOnly' } : {};
    if (typeof found === 'number') response.writeHead(found, headers).end();
    else response.writeHead(200, { ...headers, 'Content-Type': 'application/json' }).end(JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const origin = `https://${host}`;
  const answerOf = async (path: string, request: IncomingMessage): Promise<object | number> => {
    const signedIn = request.headers.cookie?.includes('session=1') ? issuer.accounts : [];
    if (path === '/accounts') return { accounts: signedIn.map((email) => ({ id: email, email, name: 'Ann' })) };
    if (path === '/issuance') return issue(request, { issuer: origin, issuerKey: key }, signedIn);
    return documents[path] ?? 404;
  };
  const documents: Record<string, object> = {
    '/login': {},
    '/.well-known/email-verification': {
      issuance_endpoint: `${origin}/issuance`,
      jwks_uri: `${origin}/jwks`,
      signing_alg_values_supported: ['Ed25519', 'ES256'],
    },
    '/.well-known/web-identity': { accounts_endpoint: `${origin}/accounts`, login_url: `${origin}/login` },
    '/jwks': { keys: [{ ...key.jwk, kid: key.kid, alg: key.alg, use: 'sig' }] },
  };
  return {
    ...issuer,
    origin,
    record: `iss=${host}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Issues a token for the key of the browser that asks, without a check of its signature. */
async function issue(
  request: IncomingMessage,
  issuer: Pick<TokenInput, 'issuer' | 'issuerKey'>,
  accounts: readonly string[],
): Promise<object | number> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const { email } = JSON.parse(body);
  if (!accounts.includes(email)) return 403;
  const parameters = [...String(request.headers['signature-key']).matchAll(/\b(kty|crv|x|y)="([^"]*)"/g)];
  const jwk = Object.fromEntries(parameters.map(([, name, value]) => [name, value]));
  return { issuance_token: `${await makeEvt({ ...issuer, email, browserKey: { jwk } })}~` };
}

/** Starts the resolver that Chromium asks for TXT records, over HTTP. It answers as the name server does. */
export async function openTextResolver(names: NameServer): Promise<{ urlPrefix: string; close(): Promise<void> }> {
  const resolver = new Resolver();
  resolver.setServers([names.address]);
  const server = createHttpServer(async ({ url = '' }, response) => {
    const name = new URL(url, 'http://localhost').searchParams.get('name') ?? '';
    const records = await resolver.resolveTxt(name).catch(() => []);
    const answer = { Status: records.length > 0 ? 0 : 3, Answer: records.map((chunks) => ({ name, type: 16, data: chunks.join('') })) };
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    urlPrefix: `http://127.0.0.1:${(server.address() as AddressInfo).port}/resolve?name=`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

let domainCount = 0;

/** Returns a mail domain that no other test uses, and whose addresses an issuer verifies. */
export function delegatedDomain(names: NameServer, ...records: string[]): string {
  domainCount += 1;
  const domain = `mail-${process.pid}-${domainCount}.example`;
  names.setText(`_email-verification.${domain}`, records);
  return domain;
}
