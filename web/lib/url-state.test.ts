import { expect, test } from 'vitest';
import { listPath, listStateOf, sortedBy } from './url-state.ts';

test.each(['', '?q=shop', '?q=b%C3%BCcher&sort=name&page=3', '?sort=sign-ins', '?sort=last&order=asc', '?sort=name&order=desc'])(
  '%j is read and written',
  (query) => {
    expect(listPath(listStateOf(new URLSearchParams(query)))).toBe(`/developer-email-auth${query}`);
  },
);

test.each(['?page=0', '?page=-1', '?page=x', '?page=1.5', '?sort=none', '?order=up', '?sort=added&order=desc', '?q=%20', '?add=website'])(
  '%j is the default',
  (query) => {
    expect(listStateOf(new URLSearchParams(query))).toEqual({ q: '', sort: 'added', order: 'desc', page: 1 });
  },
);

test('a column is sorted in its usual order, then in the other one, then not at all', () => {
  const start = listStateOf(new URLSearchParams('?q=shop&page=3'));
  const [first, second] = [sortedBy(start, 'name'), sortedBy(sortedBy(start, 'name'), 'name')];
  expect([first, second, sortedBy(second, 'name')].map(listPath)).toEqual([
    '/developer-email-auth?q=shop&sort=name',
    '/developer-email-auth?q=shop&sort=name&order=desc',
    '/developer-email-auth?q=shop',
  ]);
});
