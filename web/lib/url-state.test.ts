import { expect, test } from 'vitest';
import { listPath, listStateOf } from './url-state.ts';

test.each(['', '?q=shop', '?q=b%C3%BCcher&sort=name&page=3', '?sort=sign-ins'])('%j is read and written', (query) => {
  expect(listPath(listStateOf(new URLSearchParams(query)))).toBe(`/developer-email-auth${query}`);
});

test.each(['?page=0', '?page=-1', '?page=x', '?page=1.5', '?sort=none', '?q=%20', '?add=website'])('%j is the default', (query) => {
  expect(listStateOf(new URLSearchParams(query))).toEqual({ q: '', sort: 'added', page: 1 });
});
