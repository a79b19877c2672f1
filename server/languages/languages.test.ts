import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { languages } from '../../contract/languages.ts';
import { texts } from './languages.ts';

const keys = Object.keys(texts.en).sort();
const codes = languages.map(({ code }) => code);

test('English has the texts that the product names', () => {
  const named = ['welcome', 'subtitle', 'email_label', 'email_placeholder', 'sending', 'send_magic_link', 'previous_emails'];
  const more = ['check_email', 'magic_link_sent', 'email_instructions', 'use_different_email'];
  for (const name of [...named, ...more]) expect(keys).toContain(`auth.${name}`);
});

test.each(codes)('%s has the keys of English, each once, in the auth namespace', (code) => {
  expect(Object.keys(texts[code]).sort()).toEqual(keys);
  for (const key of keys) expect(key).toMatch(/^auth\.[a-z0-9_]+$/);
  const source = readFileSync(new URL(`./texts/${code}.json`, import.meta.url), 'utf8');
  expect(source.match(/^\s*"auth\.[^"]+"\s*:/gm)).toHaveLength(keys.length);
});

test.each(codes)('%s has no empty text, no stray space and no NFD', (code) => {
  for (const [key, text] of Object.entries(texts[code])) {
    expect(text.trim(), key).not.toBe('');
    expect(text, key).toBe(text.trim().normalize('NFC'));
  }
});

test.each(codes)('%s has the placeholders of English in every text', (code) => {
  const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
  for (const key of keys) expect([key, placeholders(texts[code][key])]).toEqual([key, placeholders(texts.en[key])]);
});

test.each(codes.filter((code) => code !== 'en'))('%s is translated, not copied', (code) => {
  const copied = keys.filter((key) => texts[code][key] === texts.en[key] && /\p{L}{3}.*\s.*\p{L}{3}/u.test(texts.en[key]));
  expect(copied).toEqual([]);
});
