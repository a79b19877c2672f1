import MailComposer from 'nodemailer/lib/mail-composer';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { languages } from '../../contract/languages.ts';
import { compose, headerText, mailboxHeader, quotedPrintable, type Sender, templates } from './composition.ts';
import type { Mail, MailKind, MailSecrets } from './mail.ts';

const sender: Sender = {
  name: 'Email Auth',
  address: 'no-reply@auth.example',
  publicUrl: 'https://auth.example',
};
const secrets = { link: `https://auth.example/auth/link?t=${'Ab-_'.repeat(16)}`, entered: { code: '012345' } };
// A UUID of version 7 of 10 December 2024, 21:30:23 UTC.
const id = '0193b27a-f8d5-7000-8000-000000000001';

const mailOf = (parts: Partial<Mail> = {}): Mail => ({
  id,
  kind: 'sign_in',
  recipient: 'ann@example.com',
  language: 'en',
  data: { host: 'shop.example' },
  ...parts,
});

async function written(
  mail: Mail,
  mailSecrets: MailSecrets | null = secrets,
): Promise<{ raw: string; mail: Awaited<ReturnType<typeof PostalMime.parse>> }> {
  const raw = (await compose(mail.kind, mail.language, sender)).fill(mail, mailSecrets);
  return { raw, mail: await PostalMime.parse(raw) };
}

test.each(languages)('a sign-in email in $name contains the host, the link and the code in both parts', async ({ code: language }) => {
  const { raw, mail } = await written(mailOf({ language }));
  expect(mail.subject).toMatch(/^012345 .*shop\.example/);
  expect(mail.html).toContain(`lang="${language}"`);
  for (const part of [mail.text, mail.html]) {
    expect(part).toContain(secrets.link);
    expect(part).toContain(secrets.entered.code);
    expect(part).toContain('shop.example');
    expect(part).toContain('10');
    expect(part).not.toMatch(/[\ue000-\uf8ff]|undefined/);
  }
  expect(mail.text?.split('\n')).toContain(secrets.link);
  expect(mail.text?.split('\n')).toContain(secrets.entered.code);
  // Can be transmitted as it is: ASCII, short lines, CRLF, no dot to double.
  expect(raw).toMatch(/^[\x20-\x7e\r\n]*\r\n$/);
  expect(raw.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  expect(raw).not.toContain('\r\n.');
  for (const line of raw.split('\r\n')) expect(line.length).toBeLessThanOrEqual(78);
});

test.each(languages)('an email in $name warns of someone who guesses codes, in both parts', async ({ code: language }) => {
  const { warning = '' } = templates.sign_in(language, sender);
  for (const kind of ['sign_in', 'app_sign_in', 'portal_sign_in'] as const) {
    const { text, html } = await PostalMime.parse(
      (await compose(kind, language, sender, undefined, true)).fill(mailOf({ kind, language }), secrets),
    );
    for (const part of [text, html]) expect(part).toContain(warning);
    const { mail } = await written(mailOf({ kind, language }));
    for (const part of [mail.text, mail.html]) expect(part).not.toContain(warning);
  }
});

const kinds: [MailKind, Record<string, string>, boolean][] = [
  ['sign_in', { host: 'shop.example' }, true],
  ['app_sign_in', { host: 'shop.example' }, true],
  ['portal_sign_in', {}, true],
  ['registered', { domain: 'shop.example' }, true],
  ['invited_owner', { domain: 'shop.example', inviter: 'bob@example.com' }, true],
  ['invited_member', { domain: 'shop.example', inviter: 'bob@example.com' }, true],
  ['domain_proven', { domain: 'shop.example' }, false],
  ['domain_lost', { domain: 'shop.example' }, false],
];

test.each(kinds)('%s is translated into every language and has no empty placeholders', async (kind, data, signsIn) => {
  const texts = new Set<string>();
  for (const { code: language } of languages) {
    const { mail } = await written(mailOf({ kind, data, language }), signsIn ? secrets : null);
    texts.add(`${mail.subject} ${mail.text}`);
    expect(mail.text).not.toMatch(/[\ue000-\uf8ff]|undefined/);
    if (data.domain) expect(mail.subject).toContain(data.domain);
    if (!signsIn) expect(mail.text).toContain('https://auth.example/developer-email-auth');
  }
  expect(texts.size).toBe(languages.length);
});

test('the OTP-Token header binds the code to the origin, as nodemailer writes it, and the last line of the text to its host', async () => {
  const { raw, mail } = await written(mailOf());
  const theirs = await new MailComposer({ text: ' ', otp: { code: secrets.entered.code, origin: sender.publicUrl } }).compile().build();
  const [header] = /^OTP-Token: .*$/m.exec(theirs.toString()) ?? [];
  expect(header).toBe('OTP-Token: "012345"; origin="https://auth.example"');
  expect(raw).toContain(`\r\n${header}\r\n`);
  expect(mail.text?.trimEnd().split('\n').at(-1)).toBe('@auth.example #012345');
});

test('an email without a code, and one of a service without https, have no OTP-Token header', async () => {
  const proven = await written(mailOf({ kind: 'domain_proven', data: { domain: 'shop.example' } }), null);
  expect(proven.raw).not.toContain('OTP-Token');
  const plain = { ...sender, publicUrl: 'http://auth.example' };
  expect((await compose('sign_in', 'en', plain)).fill(mailOf(), secrets)).not.toContain('OTP-Token');
  const local = { ...sender, publicUrl: 'http://localhost:4400' };
  expect((await compose('sign_in', 'en', local)).fill(mailOf(), secrets)).toContain('origin="http://localhost:4400"');
});

test('the headers mark the email as generated, and the Message-ID derives from its id', async () => {
  const { mail } = await written(mailOf());
  const headers = Object.fromEntries(mail.headers.map(({ key, value }) => [key, value]));
  expect(headers['auto-submitted']).toBe('auto-generated');
  expect(headers['x-auto-response-suppress']).toBe('All');
  expect(headers.date).toMatch(/^\w{3}, \d{2} \w{3} \d{4} \d\d:\d\d:\d\d \+0000$/);
  expect(Math.abs(Date.parse(headers.date) - Date.now())).toBeLessThan(60_000);
  expect(mail.messageId).toBe(`<${id}@auth.example>`);
  expect(mail.from).toMatchObject({ name: 'Email Auth', address: 'no-reply@auth.example' });
  expect(mail.to).toMatchObject([{ address: 'ann@example.com' }]);
  expect(mail.headers.filter(({ key }) => ['to', 'from', 'subject', 'message-id', 'bcc', 'cc'].includes(key))).toHaveLength(4);
});

test.each([
  'shop.example\r\nBcc: eve@example.com',
  'shop.example Click https://evil.example now',
  '<b>shop.example</b>',
  'shop.example/path',
  '',
  '"; drop table outbox',
])('the host %j is rejected', async (host) => {
  await expect(written(mailOf({ data: { host } }))).rejects.toThrow(/not a valid host name/);
});

test.each(['Bob <bob@example.com>', 'bob@example.com\nCall 555', 'Bob', ''])('the inviter %j is rejected', async (inviter) => {
  const mail = mailOf({ kind: 'invited_member', data: { domain: 'shop.example', inviter } });
  await expect(written(mail)).rejects.toThrow(/not a valid address/);
});

test('an invitation names the inviter, the website and the role, and has a link but no code', async () => {
  const data = { domain: 'shop.example', inviter: 'bob@example.com' };
  for (const [kind, role] of [
    ['invited_owner', 'as an owner'],
    ['invited_member', 'as a member'],
  ] as const) {
    const { mail } = await written(mailOf({ kind, data }));
    for (const part of [mail.text, mail.html]) {
      for (const text of [data.inviter, data.domain, role, secrets.link]) expect(part).toContain(text);
      expect(part).not.toContain(secrets.entered.code);
    }
  }
});

test('the subject has the decoded host, and the body its A-label beside it', async () => {
  for (const host of ['žalia.example', 'xn--alia-kbb.example']) {
    const { mail } = await written(mailOf({ data: { host } }));
    expect(mail.subject).toBe('012345 is your code for žalia.example');
    expect(mail.text).toContain('žalia.example (xn--alia-kbb.example)');
  }
});

test('the labels of a host in a script from right to left keep their order', async () => {
  const { mail } = await written(mailOf({ data: { host: 'xn--9dbd1a4b.example' } }));
  expect(mail.subject).toBe('012345 is your code for \u2066חנות.example\u2069');
  expect(mail.html).toContain('\u2066חנות.example\u2069 (xn--9dbd1a4b.example)');
});

test.each([
  'ann@example.com\r\nBcc: eve@example.com',
  'ann@example.com, eve@example.com',
  'Ann <ann@example.com>',
  '"a b"@example.com',
  'ann',
])('the recipient %j is rejected', async (recipient) => {
  await expect(written(mailOf({ recipient }))).rejects.toThrow(/not a valid address/);
});

test('placeholders are escaped in the HTML and unchanged in the text', async () => {
  const link = `https://auth.example/auth/callback?code=abc&state=${encodeURIComponent('"><img src=x>')}'.x&iss=https%3A%2F%2Fauth.example`;
  const { mail } = await written(mailOf({ kind: 'portal_sign_in', data: {} }), { ...secrets, link });
  expect(mail.text).toContain(link);
  expect(mail.html).toContain('code=abc&amp;state=');
  expect(mail.html).not.toContain('<img');
  await expect(written(mailOf(), { ...secrets, link: 'javascript:alert(1)' })).rejects.toThrow(/no valid link/);
  await expect(written(mailOf(), null)).rejects.toThrow(/has no/);
});

const times = {
  en: 'Requested: 10 December 2024 at 21:30 UTC · Firefox · Linux',
  lt: 'Laiško paprašyta: 2024 m. gruodžio 10 d. 21:30 UTC · Firefox · Linux',
  lv: 'Pieprasīts: 2024. gada 10. decembris 21:30 UTC · Firefox · Linux',
  uk: 'Запит: 10 грудня 2024 р. о 21:30 UTC · Firefox · Linux',
  ru: 'Запрос: 10 декабря 2024 г. в 21:30 UTC · Firefox · Linux',
};

test.each(languages)('an email in $name names the time of the request in UTC and the device, in both parts', async ({ code: language }) => {
  const { mail } = await written(mailOf({ language, data: { host: 'shop.example', device: 'Firefox · Linux' } }));
  expect(mail.text?.split('\n')).toContain(times[language]);
  expect(mail.html).toContain(times[language]);
});

test.each([undefined, '', 'curl/8.5 <b>', 'Firefox · Linux · x', 'Call +371 20000000, now!', 'A\r\nBcc: eve@example.com', 'x'.repeat(100)])(
  'an email whose device is %j names the time alone',
  async (device) => {
    const data: Record<string, string> = device === undefined ? {} : { device };
    const { mail } = await written(mailOf({ kind: 'portal_sign_in', data }));
    expect(mail.text?.split('\n')).toContain('Requested: 10 December 2024 at 21:30 UTC');
    expect(mail.headers.some(({ key }) => key === 'bcc')).toBe(false);
  },
);

test.each(languages)('a list of emails shows the code first, in $name', async ({ code: language }) => {
  const { mail } = await written(mailOf({ language }));
  const hidden = /<body[^>]*>.*?<div class="preview" style="display:none[^"]*">([^<]*)<\/div>/.exec(mail.html ?? '')?.[1];
  expect(hidden).toMatch(/^012345: /);
});

test.each(languages)('the plain text has no button, in $name', async ({ code: language }) => {
  for (const [kind, data, signsIn] of kinds) {
    const { mail } = await written(mailOf({ kind, data, language }), signsIn ? secrets : null);
    expect(mail.text).not.toMatch(/button|mygtuk|pog[au]|кнопк/i);
    expect(mail.html).toMatch(/button|mygtuk|pog[au]|кнопк/i);
  }
});

test('the email about a registration has a link for 7 days and no code', async () => {
  const { mail } = await written(mailOf({ kind: 'registered', data: { domain: 'shop.example' } }), { ...secrets, entered: null });
  expect(mail.subject).toBe('shop.example is registered');
  expect(mail.text).toContain(secrets.link);
  expect(mail.text).toContain('within 7 days');
  for (const part of [mail.text, mail.html]) expect(part?.replace(/(?:#|&#x)[0-9a-f]+/gi, '')).not.toMatch(/10 minutes|\bcode\b:|\d{6}/);
});

test('Outlook on Windows gets tables with a width, and padding only on cells', async () => {
  const { mail } = await written(mailOf());
  const html = mail.html ?? '';
  expect(html).toContain('<!--[if mso]><table role="presentation" align="center" width="480"');
  expect(html.match(/<!--\[if mso\]>/g)?.length).toBe(html.match(/<!\[endif\]-->/g)?.length);
  for (const [table] of html.matchAll(/<table[^>]*>/g)) {
    expect(table).toMatch(/width="(?:100%|480)"/);
    expect(table).toContain('role="presentation"');
    expect(table).not.toMatch(/[^l]padding|background|border:/);
  }
  expect(html).not.toContain('data-card');
  expect(html).not.toContain('<hr');
});

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
