import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
// None of these packages needs its install scripts.
const FLAGS = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

/**
 * Installs the package-lock.json of a folder into the user's cache, once until the file changes: packages that tests need
 * and the product does not.
 * @param name prefix of the directory in the cache
 * @param flags more flags for npm
 * @returns the directory that has node_modules
 * @throws Error with the output of npm
 */
export async function installPinned(folder: string, name: string, flags: readonly string[] = []): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['package.json', 'package-lock.json']) hash.update(await readFile(join(folder, file)));
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'emailauth');
  const home = join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(home)) return home;

  await mkdir(dirname(home), { recursive: true });
  const fresh = await mkdtemp(`${home}.`);
  try {
    await cp(folder, fresh, { recursive: true });
    await run('npm', ['ci', ...FLAGS, ...flags], { cwd: fresh, timeout: 300_000 });
    // Fails when another run has created the directory meanwhile.
    await rename(fresh, home).catch((error) => {
      if (!existsSync(home)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return home;
}
