import { expect, test } from 'vitest';
import { wordsOf } from './panels.tsx';

test.each([
  ['website_added', 'website added'],
  ['api_key_created', 'API key created'],
  ['api_key_rotated', 'API key rotated'],
  ['application_signed_in', 'application signed in'],
])('shows the action %s as "%s"', (action, words) => {
  expect(wordsOf(action)).toBe(words);
});
