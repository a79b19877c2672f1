import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutations } from './mutations.ts';

const repository = join(import.meta.dirname, '../..');

test('each mutation replaces a text that its file contains once, and names tests', () => {
  for (const { file, text, seenBy } of mutations) {
    const times = readFileSync(join(repository, file), 'utf8').split(text).length - 1;
    expect([file, text, times]).toEqual([file, text, 1]);
    for (const name of seenBy) expect([name, existsSync(join(repository, name))]).toEqual([name, true]);
  }
});
