import { expect, test } from 'vitest';
import { createTranslator } from './i18n.ts';

const { t } = createTranslator('en', { 'auth.sent': 'Sent to {email}, {email}; {other}' });

test('parts are filled in wherever they stand, unknown ones stay', () => {
  expect(t('auth.sent', { email: '$&@example.com' })).toBe('Sent to $&@example.com, $&@example.com; {other}');
});

test('a key without a text shows itself', () => expect(t('auth.none')).toBe('auth.none'));
