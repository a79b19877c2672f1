import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const folderOf = (id: string) => join(import.meta.dirname, 'packages', id);

/** The package.json of a framework's sites: exact versions, all of them in the lock file beside it. */
export const manifestOf = (id: string) => readFile(join(folderOf(id), 'package.json'), 'utf8');

/**
 * Installs what the lock file in `packages/<id>` says, in the user's cache: once a machine, until the lock file changes.
 * @returns the directory that has node_modules; what lies below it finds them
 * @throws Error with what npm said
 */
export async function installPackages(id: string): Promise<string> {
  const hash = createHash('sha256').update(await manifestOf(id));
  hash.update(await readFile(join(folderOf(id), 'package-lock.json')));
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'emailauth/templates');
  const home = join(cache, `${id}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(home)) return home;

  await mkdir(dirname(home), { recursive: true });
  const fresh = await mkdtemp(`${home}.`);
  try {
    await cp(folderOf(id), fresh, { recursive: true });
    // No package of these needs a script of its own to run.
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: fresh, timeout: 300_000 });
    // Fails when another run was quicker; then there is one already.
    await rename(fresh, home).catch((error) => {
      if (!existsSync(home)) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return home;
}
