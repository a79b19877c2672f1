import { expect, test } from 'vitest';
import { readRememberedAccounts } from './remembered.ts';

const key = `${'s'.repeat(22)}.${'v'.repeat(43)}`;
const read = (...entries: unknown[]) => readRememberedAccounts(JSON.stringify(entries));

test('reads the forms of the cookies and of the storage', () => {
  const account = { email: 'ada@mail.example', timestamp: 5 };
  expect(read({ ...account, key }, { ...account, authKey: key })).toEqual([
    { ...account, key },
    { ...account, key },
  ]);
});

test.each([
  'Your account is locked, call +1 900 555 0100',
  'Your account is locked, call +1 900 555 0100 ada@mail.example',
  'ada@mail.example, call +1 900 555 0100',
  'ada@mail.example\nYour account is locked',
  'ada@mail.example ',
  'Ada@mail.example',
  'ada@MAIL.example',
  '<b>ada</b>@mail.example',
  '"call me"@mail.example',
  'ada＠mail.example',
  `${'a'.repeat(65)}@mail.example`,
  `ada@${'a.'.repeat(125)}example`,
  '',
  null,
  5,
  ['ada@mail.example'],
  { toString: 'ada@mail.example' },
])('leaves out an entry whose email is %j', (email) => {
  expect(read({ email, key, timestamp: 5 })).toEqual([]);
});

test.each([undefined, null, 5, 'x', 'call me', `${key}x`, { key }])('blanks the key %j', (planted) => {
  expect(read({ email: 'ada@mail.example', key: planted, timestamp: 5 })).toEqual([{ email: 'ada@mail.example', key: '', timestamp: 5 }]);
});

test.each([undefined, null, '5', 'yesterday', -1, 8.65e15, 1e308])('reads the timestamp %j as unknown', (timestamp) => {
  expect(read({ email: 'ada@mail.example', key, timestamp })[0].timestamp).toBe(0);
});

test.each([null, undefined, '', 'x', '{}', '"ada@mail.example"', '5', '[null, 5, "x", []]', `[${' '.repeat(9000)}]`])(
  'reads no account from %j',
  (text) => {
    expect(readRememberedAccounts(text)).toEqual([]);
  },
);
