import { expect, test } from 'vitest';
import { countsOf, METHODS, methodNames, NO_STATS, OTHERS_AS_COUNTED, ofEmails, signInsByMethod } from './methods.ts';

const rows = Object.values(METHODS);

test('the codes, counts and events of methods are distinct', () => {
  const keys = [
    rows.map(({ code }) => code),
    countsOf(methodNames).map(({ name }) => name),
    rows.map(({ event: { kind, reason } }) => `${kind} ${reason}`),
  ];
  for (const each of keys) expect(new Set(each).size).toBe(each.length);
  for (const { code } of rows) expect(code).toHaveLength(1);
});

test('of the methods with and without an email, one each has the rest of the sign-ins', () => {
  for (const sendsMail of [true, false]) expect(rows.filter((row) => row.sendsMail === sendsMail && row.count === null)).toHaveLength(1);
  expect(OTHERS_AS_COUNTED).toEqual(['passkey', 'verified_email', 'remembered']);
});

test('sentences name what an email has, in the order of the methods', () => {
  expect(ofEmails('or', (noun) => noun)).toBe('link or code');
  expect(ofEmails('and', (noun, done) => `${noun}s ${done}`)).toBe('links opened and codes entered');
});

test('a sign-in without a count of its own is in the rest', () => {
  const signIns = { link: 5, code: 0, remembered: 3, passkey: 4, verified_email: 0 };
  expect(signInsByMethod({ opened: 5, again: 7, byPasskey: 4 })).toEqual(signIns);
  expect(Object.values(signInsByMethod(NO_STATS))).toEqual([0, 0, 0, 0, 0]);
});
