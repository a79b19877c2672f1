import { expect, test } from 'vitest';
import { mailboxSite } from './web-mail.ts';

test.each([
  ['ada@gmail.com', 'Gmail'],
  ['ada@googlemail.com', 'Gmail'],
  ['Ada@GMAIL.com', 'Gmail'],
  ['ada@outlook.com', 'Outlook'],
  ['ada@hotmail.co.uk', 'Outlook'],
  ['ada@live.nl', 'Outlook'],
  ['ada@yahoo.com', 'Yahoo'],
  ['ada@yahoo.co.uk', 'Yahoo'],
  ['ada@yahoo.com.br', 'Yahoo'],
  ['ada@ymail.com', 'Yahoo'],
  ['ada@icloud.com', 'iCloud'],
  ['ada@me.com', 'iCloud'],
  ['ada@proton.me', 'Proton Mail'],
  ['ada@pm.me', 'Proton Mail'],
  ['ada@inbox.lv', 'inbox.lv'],
  ['ada@ukr.net', 'ukr.net'],
  ['ada@one.lt', 'one.lt'],
  ['ada@mail.ru', 'Mail.ru'],
  ['ada@bk.ru', 'Mail.ru'],
  ['ada@yandex.ru', 'Yandex'],
  ['ada@yandex.com.tr', 'Yandex'],
  ['ada@ya.ru', 'Yandex'],
  ['ada@gmx.de', 'GMX'],
  ['ada@gmx.com', 'GMX'],
  ['ada@web.de', 'WEB.DE'],
  ['ada@seznam.cz', 'Seznam'],
  ['ada@zoho.eu', 'Zoho Mail'],
  ['ada@fastmail.com', 'Fastmail'],
  ['ada@aol.com', 'AOL'],
])('the mailbox of %s is at %s', (email, name) => {
  expect(mailboxSite(email)?.name).toBe(name);
});

test.each([
  'ada@notgmail.com',
  'ada@gmail.com.example.org',
  'ada@live.example.com',
  'ada@yahoo.evil.example',
  'ada@mail.yahoo.com',
  'ada@web.com',
  'ada@me.uk',
  'ada@shop.example',
  '',
])('the mailbox of %j is not known', (email) => {
  expect(mailboxSite(email)).toBeUndefined();
});

test('two pages of one provider differ by domain', () => {
  expect(mailboxSite('ada@gmx.at')?.url).toBe('https://www.gmx.net/');
  expect(mailboxSite('ada@gmx.co.uk')?.url).toBe('https://www.gmx.com/');
});

test('Gmail shows the emails of the last hour in the account of the address', () => {
  const url = new URL(mailboxSite('ada+lovelace@gmail.com')?.url ?? '');
  expect(url.origin).toBe('https://mail.google.com');
  expect(url.pathname).toBe('/mail/u/ada%2Blovelace%40gmail.com/');
  expect(decodeURIComponent(url.hash)).toBe('#search/in:anywhere+newer_than:1h');
});
