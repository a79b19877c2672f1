import { expect, test } from 'vitest';
import { apiReferenceText } from './api-reference.ts';

// `npm run docs` is this test with --update.
test('docs/guide/api.md says what contract/ says', async () => {
  await expect(apiReferenceText(), 'docs/guide/api.md is out of date: run `npm run docs`').toMatchFileSnapshot('../docs/guide/api.md');
});
