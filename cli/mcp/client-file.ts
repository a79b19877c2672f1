import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, sep } from 'node:path';
import { CommandError, EXIT, usageError } from '../exit.ts';
import { type Found, readExisting } from '../init/files.ts';
import type { AssistantClient, Machine, Scope } from './clients.ts';

/** Where a client's file is, or will be. */
export type FileLocation = {
  path: string;
  /** An existing directory, without symbolic links, and the path from it, with `/`. */
  root: string;
  pathInRoot: string;
  found: Found;
};

/** Returns the path of a client's file. @throws CommandError usage when the client has none in projects */
export function requirePath(client: AssistantClient, scope: Scope, machine: Machine, cwd: string): string {
  if (scope === 'user') return client.userPath(machine);
  if (client.projectPath) return join(cwd, client.projectPath);
  throw usageError(`${client.name} has no configuration file in projects.`, 'Leave out --scope project.');
}

/**
 * Reads a client's file. In a project a symbolic link must not lead out of it, since the project may be untrusted; the person's own
 * files may be anywhere.
 * @throws CommandError for a path that cannot be such a file
 */
export function locate(path: string, scope: Scope, cwd: string): FileLocation {
  const root = scope === 'project' ? realpathSync(cwd) : existingDirectoryOf(path);
  const fromRoot = scope === 'project' ? relative(cwd, path) : relative(root, resolveLinks(path));
  const pathInRoot = fromRoot.split(sep).join('/');
  return { path, root, pathInRoot, found: readExisting(root, pathInRoot) };
}

/** Returns the directory of a file, with links resolved, or its nearest parent that exists. */
function existingDirectoryOf(path: string): string {
  const real = resolveLinks(path);
  let directory = dirname(real);
  while (!existsSync(directory)) directory = dirname(directory);
  return directory;
}

/** Returns a path without symbolic links, as far as it exists. */
function resolveLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(resolveLinks(parent), basename(path));
  }
}

/** @throws CommandError client_not_found when there is no sign of the client on this machine */
export function requireInstalled(client: AssistantClient, machine: Machine): void {
  const traces = client.traces(machine);
  if (traces.some((trace) => existsSync(trace)) || (client.program && isProgram(client.program, machine.env.PATH))) return;
  const program = client.program ? `, and no \`${client.program}\` on PATH` : '';
  throw new CommandError(
    EXIT.notFound,
    'client_not_found',
    `${client.name} does not seem to be installed: there is no ${traces[traces.length - 1]}${program}. Nothing was written.`,
    `Install it and start it once, or write the file anyway with --force.`,
  );
}

function isProgram(name: string, path = ''): boolean {
  return path.split(delimiter).some((directory) => {
    try {
      const program = join(directory, name);
      accessSync(program, constants.X_OK);
      return statSync(program).isFile();
    } catch {
      return false;
    }
  });
}
