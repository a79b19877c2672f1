import { chmod, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa, type Options } from 'execa';

const repository = join(import.meta.dirname, '../../..');

/** The packed packages, and the command installed from its package in an empty prefix. */
export type Installed = {
  directory: string;
  /** The file of emailauth-server. */
  serverPackage: string;
  /** The file of emailauth. */
  commandPackage: string;
  /** Contains what npm installed, and nothing else. */
  prefix: string;
  command: string;
  /** Environment of a person with an empty home directory. */
  env: Record<string, string>;
  /** Runs the installed command without a terminal. */
  run(args: string[], options?: Options): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }>;
  close(): Promise<void>;
};

/**
 * Packs both packages of the built repository and installs the command, which needs no registry since it has no dependencies.
 * @param packServer makes another package with the service in a directory, and returns its path
 */
export async function installCommand(packServer?: (directory: string) => Promise<string>): Promise<Installed> {
  // macOS has a symbolic link in the path.
  const directory = await mkdtemp(join(await realpath(tmpdir()), 'emailauth-package-'));
  // When root runs the tests, the embedded PostgreSQL in there runs as another user.
  await chmod(directory, 0o711);
  const { packBoth, packCommand } = await import(pathToFileURL(join(repository, 'cli/release.mjs')).href);
  const other = await packServer?.(directory);
  const [serverPackage, commandPackage] = other ? [other, packCommand(repository, directory, other)] : packBoth(repository, directory);
  const prefix = join(directory, 'prefix');
  await mkdir(prefix);
  await execa('npm', ['install', '--global', '--prefix', prefix, '--offline', '--no-audit', '--no-fund', commandPackage], {
    cwd: directory,
  });
  const home = join(directory, 'home');
  await mkdir(home);
  // npm finds the packages that `npm ci` downloaded.
  const { stdout: cache } = await execa('npm', ['config', 'get', 'cache']);
  const env = { PATH: process.env.PATH ?? '', HOME: home, npm_config_cache: cache.trim(), npm_config_prefer_offline: 'true' };
  const command = join(prefix, 'bin/emailauth');
  return {
    directory,
    serverPackage,
    commandPackage,
    prefix,
    command,
    env,
    async run(args, options = {}) {
      const { exitCode, stdout, stderr } = await execa(command, args, {
        stdin: 'ignore',
        env,
        extendEnv: false,
        cwd: home,
        reject: false,
        timeout: 120_000,
        ...options,
      });
      return { exitCode, stdout: String(stdout), stderr: String(stderr) };
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Returns the paths of all files below a directory, and their sizes in bytes. */
export async function filesBelow(directory: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) sizes.set(path.slice(directory.length + 1), (await stat(path)).size);
  }
  return sizes;
}
