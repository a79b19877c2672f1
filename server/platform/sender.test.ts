import PostalMime from 'postal-mime';
import { expect, test } from 'vitest';
import { REFUSED_SENDERS, SENDERS } from '../../test/support/sender-corpus.ts';
import { mailboxHeader } from '../mail/composition.ts';
import { parseSender } from './sender.ts';

test.each(SENDERS)('%j is read as written, and stands so in the header', async (value, name, address) => {
  const sender = parseSender(value);
  expect(sender).toEqual({ name, address });
  if (typeof sender === 'string') return;
  const header = `From: ${mailboxHeader(sender)}`;
  expect(header).toMatch(/^[\x20-\x7e]*(?:\r\n [\x21-\x7e][\x20-\x7e]*)*$/);
  // An address cannot be folded.
  for (const line of header.split('\r\n')) if (!line.includes(address)) expect(line.length).toBeLessThanOrEqual(78);
  expect((await PostalMime.parse(`${header}\r\n\r\n`)).from).toEqual({ name, address });
});

test.each(REFUSED_SENDERS)('refuses %j with the reason', (value, reason) => {
  expect(parseSender(value)).toEqual(expect.stringMatching(reason));
});
