import { expect, test } from 'vitest';
import { isUnfinished, suggestEmail } from './email-suggestions.ts';

test.each([
  ['joe@gmail.con', 'gmail.com'],
  ['joe@gmail.cmo', 'gmail.com'],
  ['joe@gmail.co', 'gmail.com'],
  ['joe@gmail.comm', 'gmail.com'],
  ['joe@gmial.com', 'gmail.com'],
  ['joe@gamil.com', 'gmail.com'],
  ['joe@gmai.com', 'gmail.com'],
  ['joe@gmaill.com', 'gmail.com'],
  ['joe@gnail.com', 'gmail.com'],
  ['joe@gmailcom', 'gmail.com'],
  ['joe@gmail', 'gmail.com'],
  ['joe@gma.il.com', 'gmail.com'],
  [' Joe@GMIAL.com ', 'gmail.com'],
  ['Joe <joe@gmial.com>', 'gmail.com'],
  ['joe@hotmial.com', 'hotmail.com'],
  ['joe@hotmai.com', 'hotmail.com'],
  ['joe@outlok.com', 'outlook.com'],
  ['joe@outlook.om', 'outlook.com'],
  ['joe@yaho.com', 'yahoo.com'],
  ['joe@yahoocom', 'yahoo.com'],
  ['joe@iclod.com', 'icloud.com'],
  ['joe@icloud.cm', 'icloud.com'],
  ['joe@live.con', 'live.com'],
  ['joe@msn.cmo', 'msn.com'],
  ['joe@aolcom', 'aol.com'],
  ['joe@protonmial.com', 'protonmail.com'],
  ['joe@yandx.ru', 'yandex.ru'],
  ['joe@webde', 'web.de'],
  ['joe@ukr.ent', 'ukr.net'],
])('%j probably means %s', (text, domain) => expect(suggestEmail(text)).toBe(`joe@${domain}`));

test.each([
  ...['gmail.com', 'yahoo.com', 'hotmail.com', 'outlook.com', 'icloud.com', 'aol.com', 'live.com', 'msn.com', 'qq.com', '163.com'],
  ...['mail.ru', 'yandex.ru', 'gmx.de', 'gmx.net', 'web.de', 'protonmail.com', 'googlemail.com', 'comcast.net', 'orange.fr', 'ukr.net'],
  ...['mail.com', 'ymail.com', 'email.com', 'gmx.com', 'gmx.at', 'gmx.ch', 'mac.com', 'me.com', 'rocketmail.com', 'fastmail.com'],
  ...['yahoo.co.uk', 'yahoo.de', 'hotmail.co.uk', 'hotmail.fr', 'outlook.de', 'live.ca', 'live.nl', 'yandex.com', 'ya.ru', 'bk.ru'],
  ...['126.com', '139.com', 'q.com', 'aim.com', 'love.com', 'life.com', 'proton.me', 'pm.me', 'inbox.lv', 'inbox.lt', 'mail.ee', 'i.ua'],
  ...[
    'gmail.org',
    'gmx.es',
    'free.fr',
    'web.dk',
    'seznam.cz',
    'shop.example',
    'mail.example',
    'gmail.shop.example',
    'gmail.example',
    '',
    'x',
  ],
])('nothing is suggested for %j', (domain) => expect(suggestEmail(`joe@${domain}`)).toBeNull());

test.each(['', '@', '@gmial.com', 'gmial.com', 'joe', 'joe@', 'j oe@gmial.com', 'a@b@gmial.com', 'joe@@gmial.com'])(
  'nothing is suggested for the text %j',
  (text) => expect(suggestEmail(text)).toBeNull(),
);

test('a domain that is still being typed is not a slip', () => {
  expect(isUnfinished('joe@gmail.co', 'joe@gmail.com')).toBe(true);
  expect(isUnfinished(' Joe@gmail', 'joe@gmail.com')).toBe(true);
  expect(isUnfinished('joe@gmial.com', 'joe@gmail.com')).toBe(false);
});
