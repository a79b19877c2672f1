import { expect, test } from 'vitest';
import { matchingEntries } from './palette.tsx';

const run = () => {};
const entries = [
  { id: '1', label: 'Generate API key', keywords: ['new'], run },
  { id: '2', label: 'Add website', keywords: ['new', 'domain'], run },
  { id: '3', label: 'New application', keywords: [], run },
];

test.each([
  ['gen api', ['1']],
  ['key gen', ['1']],
  ['new', ['3', '1', '2']],
  ['ADD dom', ['2']],
  ['bsite', []],
])('%j finds the entries %j', (search, ids) => {
  expect(matchingEntries(entries, search).map(({ id }) => id)).toEqual(ids);
});
