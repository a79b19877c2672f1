import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keptSecret, SecretKeys, SignedValues } from './secrets.ts';

const key = randomBytes(32);
const values = new SignedValues(new SecretKeys(key), 'test');

test('a signed value is valid for its purpose on every instance with the key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const signed = values.sign('session', text, 60);
      expect(signed).toMatch(/^[A-Za-z0-9_.-]+$/);
      expect(new SignedValues(new SecretKeys(key), 'test').verify('session', signed)).toBe(text);
      expect(values.verify('pending', signed)).toBeNull();
      expect(new SignedValues(new SecretKeys(randomBytes(32)), 'test').verify('session', signed)).toBeNull();
    }),
  );
});

test('a changed value is not valid', () => {
  const signed = values.sign('session', 'ann@shop.example', 60);
  for (let at = 0; at < signed.length; at++) {
    const changed = `${signed.slice(0, at)}${signed[at] === 'A' ? 'B' : 'A'}${signed.slice(at + 1)}`;
    expect(values.verify('session', changed)).toBeNull();
  }
});

test.each([undefined, '', '.', '..', 'a', 'a.b', 'a.b.c', {}, [], 1, null, `${values.sign('session', 'x', 60)}.`])(
  '%j is not valid',
  (given) => {
    expect(values.verify('session', given)).toBeNull();
  },
);

test('a value expires', () => {
  let now = 0;
  const timed = new SignedValues(new SecretKeys(key), 'test', () => now);
  const signed = timed.sign('state', 'x', 60);
  now = 59_999;
  expect(timed.verify('state', signed)).toBe('x');
  now = 60_000;
  expect(timed.verify('state', signed)).toBeNull();
});

test('a secret is created once; an empty file, as a crash may leave it, is an error', () => {
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-secrets-'));
  const secret = keptSecret(directory, 'secret-key', 48);
  expect(secret).toMatch(/^[\w-]{64}$/);
  expect(keptSecret(directory, 'secret-key', 48)).toBe(secret);
  writeFileSync(join(directory, 'secret-key'), '');
  expect(() => keptSecret(directory, 'secret-key', 48)).toThrow('secret-key is empty');
  expect(readdirSync(directory)).toEqual(['secret-key']);
  rmSync(directory, { recursive: true });
});
