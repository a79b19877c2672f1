import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, extname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The environment variables of a command. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The package that contains the service. */
export const SERVER_PACKAGE = 'emailauth-server';

/**
 * Returns the directory with the modules of the service, or null: in the repository those beside cli/, else those of emailauth-server
 * in the same version, installed beside this package or by `installServer`.
 */
export function findServer(env: Environment): string | null {
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

/**
 * Returns the integrity (sha512, as npm writes it) of the package with the service of this release; null in the repository and in a
 * copy that was not made by `npm run packages`.
 */
export function serverIntegrity(): string | null {
  try {
    return JSON.parse(readFileSync(new URL('./service-package.json', import.meta.url), 'utf8')).integrity;
  } catch {
    return null;
  }
}

/** Returns the version of the package in a directory, or null. */
function versionIn(home: string): string | null {
  try {
    return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version;
  } catch {
    return null;
  }
}

/** Returns a directory of the XDG Base Directory Specification, which says to ignore a relative path. @param fallback below HOME */
export function baseDirectory(given: string | undefined, { HOME }: Environment, fallback: string): string {
  return given && isAbsolute(given) ? given : join(HOME || homedir(), fallback);
}

/** Returns where `emailauth start` installs the service: `$XDG_DATA_HOME/emailauth/server-<version>` (XDG Base Directory Specification). */
export function installDirectory(env: Environment): string {
  return join(baseDirectory(env.XDG_DATA_HOME, env, '.local/share'), 'emailauth', `server-${version()}`);
}

/** Returns the version in package.json, which is one directory above the source and two above dist. */
export function version(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const home = here.endsWith(join('dist', 'cli')) ? join(here, '../..') : join(here, '..');
  return JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')).version;
}
