import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { headerText, mailboxHeader, quotedPrintable } from './mime.ts';

const decoded = async (body: string) =>
  (await PostalMime.parse(`Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n${body}\r\n`))
    .text;

test.each([
  'plain',
  'a = b',
  'trailing space ',
  '.dot',
  `${'ąčęėįšųū„“'.repeat(30)}`,
  `${'x'.repeat(71)}.....${'='.repeat(200)}`,
  'two\nlines\n\n.and more',
])('quoted-printable of %j decodes to the same text', async (text) => {
  const encoded = quotedPrintable(text);
  expect(await decoded(encoded)).toBe(`${text}\n`);
  for (const line of encoded.split('\r\n')) {
    expect(line.length).toBeLessThanOrEqual(76);
    expect(line).not.toMatch(/^\.|[ \t]$|=[0-9A-F]?=$/);
  }
});

test.each([
  'Sign in to shop.example',
  'Вхід на shop.example',
  `Prisijungimas prie ${'a'.repeat(60)}.${'b'.repeat(60)}.lt ąčę`,
  'a =?utf-8?B?x?= b',
  'x '.repeat(90).trim(),
])('the subject %j decodes to the same text', async (subject) => {
  const header = `Subject: ${headerText(subject)}`;
  expect(header).toMatch(/^[\x20-\x7e\r\n]*$/);
  expect((await PostalMime.parse(`${header}\r\n\r\n`)).subject).toBe(subject);
});

test.each(['Email Auth', 'Ąžuolas "&" Co, Ltd', 'x <eve@example.com>', 'a\r\nBcc: eve@example.com', ''])(
  'the sender name %j cannot add a header or an address',
  async (name) => {
    const { from, headers } = await PostalMime.parse(`From: ${mailboxHeader({ name, address: 'no-reply@auth.example' })}\r\n\r\n`);
    expect(from).toMatchObject({ name: name.replace('\r\n', ' '), address: 'no-reply@auth.example' });
    expect(headers).toHaveLength(1);
  },
);
