import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, sep } from 'node:path';
import { CommandError, EXIT } from '../exit.ts';
import { type Found, lookAt } from '../init/files.ts';
import type { AssistantClient, Machine, Scope } from './clients.ts';

/** Where a client's file is, or will be. */
export type Place = {
  path: string;
  /** What it is written from: a directory that is there, without symbolic links, and the way from it, with `/`. */
  root: string;
  inRoot: string;
  found: Found;
};

/** The path of a client's file. @returns null: it has none in projects */
export function pathOf(client: AssistantClient, scope: Scope, machine: Machine, cwd: string): string | null {
  if (scope === 'user') return client.userPath(machine);
  return client.projectPath && join(cwd, client.projectPath);
}

/**
 * Looks at a client's file. In a project a symbolic link may not lead out of it, since the project may be a stranger's; the
 * person's own files may lie anywhere.
 * @throws CommandError for what cannot be such a file
 */
export function placeOf(path: string, scope: Scope, cwd: string): Place {
  const root = scope === 'project' ? realpathSync(cwd) : directoryAbove(path);
  const inRoot = scope === 'project' ? relative(cwd, path) : relative(root, resolved(path));
  const way = inRoot.split(sep).join('/');
  return { path, root, inRoot: way, found: lookAt(root, way) };
}

/** The directory that holds the file behind its links; of one that is not there, the nearest that is. */
function directoryAbove(path: string): string {
  const real = resolved(path);
  let directory = dirname(real);
  while (!existsSync(directory)) directory = dirname(directory);
  return directory;
}

/** A path without symbolic links, as far as it is there. */
function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(resolved(above), basename(path));
  }
}

/** @throws CommandError not found, when nothing tells that the client was ever here */
export function mustBeInstalled(client: AssistantClient, machine: Machine): void {
  const traces = client.traces(machine);
  if (traces.some((trace) => existsSync(trace)) || (client.program && isProgram(client.program, machine.env.PATH))) return;
  const program = client.program ? `, and no \`${client.program}\` on PATH` : '';
  throw new CommandError(
    EXIT.notFound,
    'client_not_found',
    `${client.name} does not seem to be installed: there is no ${traces[traces.length - 1]}${program}. Nothing was written.`,
    `Install it and start it once, or write the file all the same with --force.`,
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
