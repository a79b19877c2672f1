import { expect, test } from 'vitest';
import { apiReferenceText } from './api-reference.ts';

// `npm run docs` is this test with --update.
test('docs/guide/api.md is up to date with contract/', async () => {
  await expect(apiReferenceText(), 'docs/guide/api.md is out of date: run `npm run docs`').toMatchFileSnapshot('guide/api.md');
});
