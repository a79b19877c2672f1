import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The version in package.json, which lies one directory up from source and two from dist. */
export function version(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const home = here.endsWith(join('dist', 'cli')) ? join(here, '../..') : join(here, '..');
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version;
}
