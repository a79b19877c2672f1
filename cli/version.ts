import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the version in package.json, which is one directory above the source and two above dist. */
export function version(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const home = here.endsWith(join('dist', 'cli')) ? join(here, '../..') : join(here, '..');
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version;
}
