import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import pino from 'pino';
import { expect, test } from 'vitest';
import type { Mail } from './mail.ts';
import { Mailer } from './mailer.ts';

const log = pino({ level: 'silent' });
const settings = {
  smtpUrl: null,
  mailFrom: { name: 'Email Auth', address: 'no-reply@auth.example' },
  publicUrl: 'https://auth.example',
  log,
};
const mail: Mail = { id: 'a-1', kind: 'sign_in', recipient: 'ann@example.com', language: 'uk', data: { host: 'shop.example' } };
const secrets = { link: 'https://auth.example/auth/link?t=abc', entered: { code: '123456' } };
const soon = () => performance.now() + 30_000;

test('the DKIM signature (RFC 6376) covers headers and body', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const messages: string[] = [];
  const mailer = new Mailer({
    ...settings,
    dkim: { domainName: 'auth.example', keySelector: 'mail', privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
    deliver: async (message) => void messages.push(message.toString('latin1')),
  });
  expect(await mailer.send(mail, secrets, soon())).toBe('sent');
  await mailer.close();

  const [message] = messages;
  const split = message.indexOf('\r\n\r\n');
  const headers = message.slice(0, split).split(/\r\n(?![ \t])/);
  const relaxed = (header: string) => {
    const colon = header.indexOf(':');
    return `${header.slice(0, colon).toLowerCase()}:${header
      .slice(colon + 1)
      .replace(/\s+/g, ' ')
      .trim()}`;
  };
  const signature = headers.find((header) => header.startsWith('DKIM-Signature:')) ?? '';
  const tags = Object.fromEntries(
    [...signature.slice(15).matchAll(/([a-z]+)=([^;]*)/g)].map(([, name, value]) => [name, value.replace(/\s+/g, '')]),
  );
  expect(tags).toMatchObject({ d: 'auth.example', s: 'mail', a: 'rsa-sha256', c: 'relaxed/relaxed' });
  expect(tags.h.split(':')).toEqual(expect.arrayContaining(['from', 'to', 'subject', 'date', 'message-id']));

  const body = message
    .slice(split + 4)
    .split('\r\n')
    .map((line) => line.replace(/[ \t]+/g, ' ').replace(/ $/, ''))
    .join('\r\n')
    .replace(/(\r\n)+$/, '\r\n');
  expect(tags.bh).toBe(createHash('sha256').update(body, 'latin1').digest('base64'));
  const signed = tags.h.split(':').map((name) => relaxed(headers.find((header) => header.toLowerCase().startsWith(`${name}:`)) ?? ''));
  const unsigned = relaxed(signature).replace(/(\bb=)[^;]*$/, '$1');
  const verify = createVerify('RSA-SHA256').update([...signed, unsigned].join('\r\n'), 'latin1');
  expect(verify.verify(publicKey, tags.b, 'base64')).toBe(true);
});

test('refuses an email that can never be composed; an error of the inbox is temporary', async () => {
  const mailer = new Mailer({ ...settings, dkim: null, deliver: () => Promise.reject(new Error('disk full')) });
  expect(await mailer.send({ ...mail, data: { host: 'a b' } }, secrets, soon())).toMatchObject({
    refused: expect.stringContaining('not a valid host name'),
    local: true,
  });
  expect(await mailer.send(mail, secrets, soon())).toEqual({ failed: 'Error: disk full' });
  expect(await mailer.send(mail, secrets, performance.now() - 1)).toBe('not_tried');
  await mailer.close();
});

test('an error while composing is a failure of this service, to be tried again', async () => {
  const mailer = new Mailer({ ...settings, dkim: null, deliver: async () => {} });
  expect(await mailer.send({ ...mail, kind: 'no such kind' as never }, secrets, soon())).toEqual({
    failed: expect.stringMatching(/^\w*Error: /),
  });
  await mailer.close();
});

test('a prepared email is sent without waiting for its composition', async () => {
  const languages: string[] = [];
  const deliver = async (message: Buffer) => void languages.push(/^Content-Language: (.*)\r$/m.exec(message.toString('latin1'))?.[1] ?? '');
  const mailer = new Mailer({ ...settings, dkim: null, deliver });
  await mailer.prepare();
  await Promise.all([mailer.send(mail, secrets, soon()), mailer.send({ ...mail, language: 'en' }, secrets, soon())]);
  expect(languages).toEqual(['en', 'uk']);
  await mailer.close();
});

test('rejects invalid settings in the constructor', () => {
  const deliver = async () => {};
  const { privateKey } = generateKeyPairSync('ed25519');
  const dkim = {
    domainName: 'auth.example',
    keySelector: 'mail',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
  expect(() => new Mailer({ ...settings, dkim, deliver })).toThrow(/RSA/);
  expect(() => new Mailer({ ...settings, dkim: null })).toThrow(/smtpUrl/);
});
