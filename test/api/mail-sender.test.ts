import pino from 'pino';
import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { Mailer } from '../../server/mail/mailer.ts';
import { parseSender } from '../../server/platform/sender.ts';
import { openMailbox } from '../support/mailbox.ts';
import { SENDERS } from '../support/sender-corpus.ts';

test('every sender that is accepted arrives as it was meant, in header, envelope and Message-ID', async ({ onTestFinished: atEnd }) => {
  const mailbox = await openMailbox();
  atEnd(() => mailbox.down());
  for (const [n, [value, name, address]] of SENDERS.entries()) {
    const mailFrom = parseSender(value);
    if (typeof mailFrom === 'string') throw new Error(mailFrom);
    const settings = { smtpUrl: mailbox.url, mailFrom, dkim: null, publicUrl: 'https://auth.example', log: pino({ level: 'silent' }) };
    const mailer = new Mailer(settings);
    const recipient = `u${n}@mail.example`;
    const mail = { id: `id-${n}`, kind: 'sign_in' as const, recipient, language: 'uk' as const, data: { host: 'shop.example' } };
    const secrets = { link: 'https://auth.example/auth/link?t=abc', entered: { code: '123456' } };
    expect(await mailer.send(mail, secrets, performance.now() + 30_000)).toBe('sent');
    await mailer.close();
    const { raw, sender, messageId } = await mailbox.waitFor(recipient);
    expect(raw).toMatch(/^[\x20-\x7e\r\n]*$/);
    expect((await PostalMime.parse(raw)).from).toEqual({ name, address });
    expect(sender).toBe(address);
    expect(messageId).toBe(`<id-${n}@${address.split('@')[1]}>`);
  }
});
