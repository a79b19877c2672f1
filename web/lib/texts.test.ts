import { expect, test } from 'vitest';
import { createTranslator } from './texts.ts';

const { t } = createTranslator('en', { 'auth.sent': 'Sent to {email}, {email}; {other}' });

test('fills in every occurrence of a part and keeps unknown ones', () => {
  expect(t('auth.sent', { email: '$&@example.com' })).toBe('Sent to $&@example.com, $&@example.com; {other}');
});

test('keeps the order of the labels of a host from right to left', () => {
  expect(t('auth.sent', { email: 'a', other: 'חנות.example' })).toBe('Sent to a, a; \u2066חנות.example\u2069');
});

test('returns the key when it has no text', () => expect(t('auth.none')).toBe('auth.none'));
