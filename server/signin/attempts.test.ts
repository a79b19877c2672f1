import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { createAuthKey, readAuthKey } from '../developers/browser.ts';
import { digest, isRandomSecret, randomSecret, SecretKeys } from '../platform/secrets.ts';
import { type AttemptKind, AttemptSecrets, handleToId, idToHandle } from './attempts.ts';

const secrets = new AttemptSecrets(new SecretKeys(Buffer.alloc(32, 7)));
const id = uuid();

test('a link identifies its attempt and kind, and is the same at every retry', () => {
  for (const kind of ['site', 'portal', 'app', 'oidc', 'registration', 'invitation'] as const) {
    const link = secrets.link(kind, id);
    expect(link).toHaveLength(64);
    expect(secrets.link(kind, id)).toBe(link);
    expect(secrets.readLink(link)).toEqual({ kind, id });
  }
});

test('rejects a link made with another key, a changed link and a text that is not a link', () => {
  const link = secrets.link('site', id);
  expect(new AttemptSecrets(new SecretKeys(Buffer.alloc(32, 8))).readLink(link)).toBeNull();
  for (let index = 0; index < 64; index++) {
    const changed = link.slice(0, index) + (link[index] === 'A' ? 'B' : 'A') + link.slice(index + 1);
    expect(secrets.readLink(changed)).toBeNull();
  }
  for (const text of ['', 'x', `${link}A`, link.slice(1), `${link.slice(0, 63)}=`]) expect(secrets.readLink(text)).toBeNull();
});

test('the kind of a link cannot be changed', () => {
  const bytes = Buffer.from(secrets.link('registration', id), 'base64url');
  for (let kind = 0; kind < 256; kind++) {
    const changed = Buffer.concat([Buffer.of(kind), bytes.subarray(1)]).toString('base64url');
    expect(secrets.readLink(changed)).toEqual(kind === bytes[0] ? { kind: 'registration', id } : null);
  }
});

test('a code has six digits, differs between attempts, and matches only itself', () => {
  const code = secrets.entered('code', 'site', id);
  const isCode = (value: string) => secrets.isEntered({ method: 'code', value }, 'site', id);
  expect(code).toMatch(/^\d{6}$/);
  expect(isCode(code)).toBe(true);
  expect(isCode(String((Number(code) + 1) % 1_000_000).padStart(6, '0'))).toBe(false);
  expect(isCode(code.slice(1))).toBe(false);
  expect(new Set(Array.from({ length: 50 }, () => secrets.entered('code', 'site', uuid()))).size).toBeGreaterThan(45);
});

test('the code of an attempt stays the same from version to version', () => {
  const codeOf = (kind: AttemptKind) => secrets.entered('code', kind, '0193b27a-f8d5-7000-8000-000000000001');
  expect([codeOf('site'), codeOf('portal'), codeOf('app'), codeOf('oidc')]).toEqual(['758928', '830642', '116914', '202254']);
});

test('a handle converts back to the id of its attempt', () => {
  expect(handleToId(idToHandle(id))).toBe(id);
  expect(handleToId('short')).toBeNull();
});

test('a random secret has 256 bits in base64url', () => {
  expect(isRandomSecret(randomSecret())).toBe(true);
  expect(isRandomSecret(undefined)).toBe(false);
  expect(isRandomSecret(`${randomSecret()}=`)).toBe(false);
});

test('an auth key consists of a selector and a verifier, which is stored hashed', () => {
  const { key, selector, verifier } = createAuthKey();
  expect(readAuthKey(key)).toEqual({ selector, verifier });
  expect(digest(key.split('.')[1])).toEqual(verifier);
  for (const text of ['', '.', 'a.b', `${key}.x`, key.slice(1)]) expect(readAuthKey(text)).toBeNull();
});

test('what an opening issues is the same at each try, and known to instances that read with both keys of a rotation', () => {
  const [old, next] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
  const { token, authKey } = secrets.issue('site', id);
  expect(isRandomSecret(token)).toBe(true);
  expect(readAuthKey(authKey.key)).toEqual({ selector: authKey.selector, verifier: authKey.verifier });
  expect(secrets.issue('site', id)).toEqual({ token, authKey });
  expect(new AttemptSecrets(new SecretKeys(next, old)).issued('site', id)).toContainEqual({ token, authKey });
  const others = [
    secrets.issue('portal', id).token,
    new AttemptSecrets(new SecretKeys(next)).issue('site', id).token,
    secrets.link('site', id),
    authKey.key.split('.')[1],
  ];
  expect(others).not.toContain(token);
});
