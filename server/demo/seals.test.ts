import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSeals } from './seals.ts';

const key = randomBytes(32);
const seals = createSeals(key);

test('a seal opens to its text, for its purpose, on every instance with the key', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const sealed = seals.seal('session', text, 60);
      expect(sealed).toMatch(/^[A-Za-z0-9_.-]+$/);
      expect(createSeals(key).open('session', sealed)).toBe(text);
      expect(seals.open('pending', sealed)).toBeNull();
      expect(createSeals(randomBytes(32)).open('session', sealed)).toBeNull();
    }),
  );
});

test('a seal that is changed anywhere does not open', () => {
  const sealed = seals.seal('session', 'ann@shop.example', 60);
  for (let at = 0; at < sealed.length; at++) {
    const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
    expect(seals.open('session', changed)).toBeNull();
  }
});

test.each([undefined, '', '.', '..', 'a', 'a.b', 'a.b.c', {}, [], 1, null, `${seals.seal('session', 'x', 60)}.`])(
  '%j is no seal',
  (given) => {
    expect(seals.open('session', given)).toBeNull();
  },
);

test('a seal ends in time', () => {
  let now = 0;
  const timed = createSeals(key, () => now);
  const sealed = timed.seal('state', 'x', 60);
  now = 59_999;
  expect(timed.open('state', sealed)).toBe('x');
  now = 60_000;
  expect(timed.open('state', sealed)).toBeNull();
});
