import { expect, test } from 'vitest';
import { refusedFiles } from '../../test/support/images.ts';
import { makeIcon } from './icon.ts';

test.each(await refusedFiles())('refuses %s', async (_, bytes) => {
  await expect(makeIcon(bytes)).rejects.toMatchObject({ code: 'bad_icon' });
});
