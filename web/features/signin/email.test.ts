import { expect, test } from 'vitest';
import { mailboxSite } from './email.ts';

test.each([
  ['ada@gmail.com', 'Gmail'],
  ['ada@googlemail.com', 'Gmail'],
  ['ada@outlook.com', 'Outlook'],
  ['ada@hotmail.co.uk', 'Outlook'],
  ['ada@notgmail.com', undefined],
  ['ada@gmail.com.example.org', undefined],
  ['ada@live.example.com', undefined],
])('%s: %s', (email, name) => {
  expect(mailboxSite(email)?.name).toBe(name);
});
