import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Context } from './context.ts';
import { CommandError, EXIT } from './exit.ts';
import { version } from './version.ts';

/** The package that contains the service. */
export const SERVER_PACKAGE = 'emailauth-server';

/** The modules of the service that commands run, by their path in server/. */
type ServerModules = {
  'admin/unlock-store': typeof import('../server/admin/unlock-store.ts');
  'backup/backup': typeof import('../server/backup/backup.ts');
  'backup/restore': typeof import('../server/backup/restore.ts');
  config: typeof import('../server/config.ts');
  'db/attach': typeof import('../server/db/attach.ts');
  'db/migrate': typeof import('../server/db/migrate.ts');
  'db/secret-key': typeof import('../server/db/secret-key.ts');
  main: typeof import('../server/main.ts');
};

/**
 * Loads a module of the service. If the service is not installed, it is installed first, after a confirmation.
 * @throws CommandError server_missing without a terminal and --yes; install_failed; server_damaged; cancelled
 */
export async function importServer<Name extends keyof ServerModules>(context: Context, name: Name): Promise<ServerModules[Name]> {
  const modules = findServer(context.env) ?? (await installMissing(context));
  const path = join(modules, `${name}${extname(import.meta.url)}`);
  try {
    return await import(/* @vite-ignore */ pathToFileURL(path).href);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const hint = `Reinstall ${SERVER_PACKAGE} ${version()}; a copy in ${installDirectory(context.env)} can be deleted.`;
    throw new CommandError(EXIT.failure, 'server_damaged', `Files of the service are missing in ${modules}.`, hint, error);
  }
}

/**
 * Returns the directory with the modules of the service, or null: in the repository those beside cli/, else those of emailauth-server
 * in the same version, installed beside this package or by `installServer`.
 */
function findServer(env: Context['env']): string | null {
  const inRepository = fileURLToPath(new URL('../server', import.meta.url));
  if (existsSync(join(inRepository, `main${extname(import.meta.url)}`))) return inRepository;
  return modulesBeside() ?? modulesIn(installDirectory(env));
}

function modulesBeside(): string | null {
  try {
    return modulesOf(join(createRequire(import.meta.url).resolve(`${SERVER_PACKAGE}/package.json`), '..'));
  } catch {
    return null;
  }
}

/** Returns the directory with the modules of the service that npm installed in a directory, or null if it is missing there, incomplete or has another version. */
export const modulesIn = (directory: string): string | null => modulesOf(join(directory, 'node_modules', SERVER_PACKAGE));

function modulesOf(home: string): string | null {
  const modules = join(home, 'dist/server');
  return versionIn(home) === version() && existsSync(join(modules, 'main.js')) ? modules : null;
}

/** Returns the version of the package in a directory, or null. */
export function versionIn(home: string): string | null {
  try {
    return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version;
  } catch {
    return null;
  }
}

/** Returns where `emailauth start` installs the service: `$XDG_DATA_HOME/emailauth/server-<version>` (XDG Base Directory Specification). */
export function installDirectory({ XDG_DATA_HOME, HOME }: Context['env']): string {
  // The specification says to ignore a relative path.
  const data = XDG_DATA_HOME?.startsWith('/') ? XDG_DATA_HOME : join(HOME || homedir(), '.local/share');
  return join(data, 'emailauth', `server-${version()}`);
}

async function installMissing(context: Context): Promise<string> {
  const { installServer } = await import('./install-server.ts');
  return installServer(context);
}
