import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errors } from '../../contract/errors.ts';
import { languages } from '../../contract/languages.ts';
import { faultsOfTexts } from '../../test/support/translation-checks.ts';
import { texts } from './languages.ts';

const keys = Object.keys(texts.en).sort();
const codes = languages.map(({ code }) => code);

test('English has the texts that the product names', () => {
  const named = ['welcome', 'subtitle', 'email_label', 'email_placeholder', 'sending', 'send_magic_link', 'previous_emails'];
  const more = ['check_email', 'magic_link_sent', 'email_instructions', 'use_different_email'];
  for (const name of [...named, ...more]) expect(keys).toContain(`auth.${name}`);
});

test('a wrong code has one wording on the pages and in the API', () => {
  expect(texts.en['auth.code_wrong']).toMatch(new RegExp(`^${errors.bad_code.message} `));
});

test.each(codes)('%s has each key once, in the auth namespace', (code) => {
  for (const key of keys) expect(key).toMatch(/^auth\.[a-z0-9_]+$/);
  const source = readFileSync(new URL(`./texts/${code}.json`, import.meta.url), 'utf8');
  expect(source.match(/^\s*"auth\.[^"]+"\s*:/gm)).toHaveLength(keys.length);
});

test.each(codes)('%s has the keys and placeholders of English, and keeps to lengths, terms and quotation marks', (code) => {
  expect(faultsOfTexts(`server/languages/texts/${code}.json`, code, texts[code], texts.en)).toEqual([]);
});

test.each(codes.filter((code) => code !== 'en'))('%s is translated, not copied', (code) => {
  const copied = keys.filter((key) => texts[code][key] === texts.en[key] && /\p{L}{3}.*\s.*\p{L}{3}/u.test(texts.en[key]));
  expect(copied).toEqual([]);
});
