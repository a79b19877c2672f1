import { expect, test } from 'vitest';
import { referenceText } from './reference.ts';

// `npm run docs` is this test with --update.
test('docs/cli.md is up to date', async () => {
  await expect(referenceText(), 'docs/cli.md is out of date: run `npm run docs`').toMatchFileSnapshot('../docs/cli.md');
});
