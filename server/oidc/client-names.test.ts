import { expect, test } from 'vitest';
import { clientNameOf } from './client-names.ts';

test.each([
  'Claude',
  'Visual Studio Code',
  'MCP Inspector (v0.12.1)',
  'Node.js Client',
  "Ada's app – beta",
  'Žebenkštis',
  'Моя програма',
  '日本語アプリ',
  '한국어 앱',
  'हिन्दी',
  'عربي',
])('keeps %s', (name) => expect(clientNameOf(name, [])).toBe(name));

test.each([
  ['letters of mathematics', '𝐆𝐨𝐨𝐠𝐥𝐞'],
  ['a sign', 'Google ✓ verified'],
  ['a host', 'Google accounts.google.com'],
  ['a host with a port', 'accounts.google.com:443'],
  ['a host in Unicode', 'bücher.example.de'],
  ['an email address', 'support@google.com'],
  ['a URL', 'https://google.com/'],
  ['two scripts', 'Gооgle'],
  ['letters that look Latin', 'Аррӏе'],
  ['Greek letters that look Latin', 'ΟΧΟ'],
  ['full-width letters', 'Ｇｏｏｇｌｅ'],
  ['an invisible letter', '\u3164'],
  ['invisible characters', '\u200b\u2060'],
  ['a stack of marks', 'G\u0300\u0301\u0302\u0303oogle'],
  ['a mark on a Latin letter without a composed form', 'q\u0307'],
  ['emoji', '🔒 Google'],
  ['digits alone', '12345'],
  ['nothing', ''],
])('refuses %s', (_what, name) => expect(clientNameOf(name, ['evil.example'])).toBeNull());

test('a long name is cut to 60 characters, and lines become one', () => {
  expect(clientNameOf('a'.repeat(100), [])).toBe(`${'a'.repeat(59)}…`);
  expect(clientNameOf('Two\nlines', [])).toBe('Two lines');
});

test('a name may contain the host of the client, or a parent domain of it', () => {
  for (const name of ['shop24.com', 'Shop (www.shop24.com)']) expect(clientNameOf(name, ['www.shop24.com'])).toBe(name);
  for (const name of ['shop24.com', 'shop24.com, google.com']) expect(clientNameOf(name, ['xshop24.com'])).toBeNull();
});
