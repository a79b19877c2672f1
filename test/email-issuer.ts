import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, type JWTPayload, SignJWT } from 'jose';
import { type EvtClaims, type KeyBindingClaims, sdHashOf } from '../server/email-verification/token.ts';
import { openAuthority } from './certificates.ts';
import type { NameServer } from './dns.ts';

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
export async function makeEvt({ issuer, email, issuerKey, browserKey, evt = {} }: Omit<TokenInput, 'origin' | 'nonce'>): Promise<string> {
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

const seconds = () => Math.floor(Date.now() / 1000);

/** An issuer of verified addresses on this machine, which a service in local mode may ask. */
export type EmailIssuer = {
  origin: string;
  /** What the record of a mail domain contains. */
  record: string;
  key: TokenKey;
  /** The paths of the received requests. */
  requests: string[];
  /** Responses by path that replace those of an issuer: JSON, a status, or `hang` for none. */
  responses: Map<string, object | number | 'hang'>;
  close(): Promise<void>;
};

/** Starts an issuer at a port of localhost, with TLS. @param extra handles the requests of browsers; returns false for any other */
export async function openEmailIssuer(extra: (...call: Parameters<RequestListener>) => boolean = () => false): Promise<EmailIssuer> {
  const authority = await openAuthority();
  const certificate = await authority.issue('localhost', 1);
  await authority.close();
  const key = await newTokenKey('ES256');
  const requests: string[] = [];
  const responses: EmailIssuer['responses'] = new Map();
  const server = createServer(certificate, (request, response) => {
    const path = (request.url ?? '').split('?')[0];
    requests.push(path);
    const changed = responses.get(path);
    if (changed === 'hang') return;
    if (changed === undefined && extra(request, response)) return;
    const found = changed ?? documents[path] ?? 404;
    if (typeof found === 'number') response.writeHead(found).end();
    else response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(found));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `localhost:${(server.address() as AddressInfo).port}`;
  const origin = `https://${host}`;
  const documents: Record<string, object> = {
    '/.well-known/email-verification': {
      issuance_endpoint: `${origin}/issuance`,
      jwks_uri: `${origin}/jwks`,
      signing_alg_values_supported: ['EdDSA', 'ES256'],
    },
    '/jwks': { keys: [{ ...key.jwk, kid: key.kid, alg: key.alg, use: 'sig' }] },
  };
  return {
    origin,
    record: `iss=${host}`,
    key,
    requests,
    responses,
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
