import { expect, test } from 'vitest';
import { changeOf } from './overview-page.tsx';

test.each([
  [10, null, 'Not enough earlier data to compare with the 30 days before.'],
  [10, 10, 'As many as in the 30 days before.'],
  [0, 0, 'As many as in the 30 days before.'],
  [10, 0, 'Up from 0 in the 30 days before.'],
  [1500, 1000, 'Up 50% from 1,000 in the 30 days before.'],
  [0, 4, 'Down 100% from 4 in the 30 days before.'],
  [1001, 1000, 'Up less than 1% from 1,000 in the 30 days before.'],
])('%j sign-ins after %j: %s', (total, previous, text) => {
  expect(changeOf(total, previous, 30)).toBe(text);
});
