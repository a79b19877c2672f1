import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit.ts';
import { type Found, readExisting } from '../init/files.ts';
import { baseDirectory } from '../installation.ts';
import type { AssistantClient, Entry, Machine, Scope, StdioCommand } from './clients.ts';

export type EntryFlags = { scope: Scope; http: boolean; readOnly: boolean };

/** What is written into a client's file, and notes for the person, as sentences. */
export type WantedEntry = { entry: Entry; inputs: { id: string }[]; remarks: string[] };

const TOKEN = 'EMAILAUTH_TOKEN';
/** Directories in which a program keeps its path when it is updated. */
const STABLE_DIRECTORIES = ['/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin', '/opt/local/bin', '/usr/bin'];

export const machineOf = ({ env }: Context): Machine => ({ env, home: env.HOME || homedir(), platform: process.platform });

/**
 * Returns the entry of this service for a client. It contains no secret: a stored sign-in is read when the server runs, and a key in
 * the environment is referenced by its name.
 * @throws CommandError usage for flags that the client does not support
 */
export async function entryFor(context: Context, client: AssistantClient, { scope, http, readOnly }: EntryFlags): Promise<WantedEntry> {
  const { value: host } = await context.settings.host();
  const tokenFrom = context.env[TOKEN]?.trim() ? TOKEN : null;
  if (http) {
    const url = `${host}/mcp`;
    if (readOnly) throw usageError('--read-only only works with the local server.', 'Leave out --http or --read-only.');
    if (!client.http) {
      throw usageError(
        `${client.name} does not support the address of a server in its file.`,
        `Leave out --http; or add ${url} under Settings, Connectors, where it has to be public.`,
      );
    }
    const remark = tokenFrom
      ? `It sends the API key ${client.inputs ? 'that VS Code prompts for' : `in ${TOKEN}, which has to be set where ${client.name} starts`}; the file contains no key.`
      : `It contains no key. When a tool needs your account, ${client.name} signs you in by email in the browser${client.signIn ? `: ${client.signIn}` : ''}.`;
    const inputs = tokenFrom && client.inputs ? client.inputs(url) : [];
    return { entry: client.http(url, tokenFrom), inputs, remarks: [remark] };
  }
  const { command, remarks } = commandLine(context, scope);
  const args = ['mcp', ...(await flagsOf(context)), ...(readOnly ? ['--read-only'] : [])];
  const env = environmentOf(context, scope);
  const entry = client.stdio({ command: command.command, args: [...command.args, ...args], ...(env && { env }) });
  return { entry, inputs: [], remarks };
}

/** Returns the command that signs in or out with the same settings. */
export const loginCommand = async (context: Context, command: 'login' | 'logout') =>
  [`emailauth ${command}`, ...(await flagsOf(context))].join(' ');

/** Returns the flags for the service and the profile in use, unless they are the defaults. */
async function flagsOf({ settings }: Context): Promise<string[]> {
  const { value: host, source } = await settings.host();
  return [...(source === 'default' ? [] : ['--host', host]), ...(settings.profile === 'default' ? [] : ['--profile', settings.profile])];
}

/** Returns how another program starts this one. */
function commandLine({ env }: Context, scope: Scope): { command: StdioCommand; remarks: string[] } {
  const own = realpathSync(fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url)));
  // A project's file is shared with other machines, where only the name is right.
  if (scope === 'project' && process.platform !== 'win32' && isOnPath(env.PATH, own))
    return { command: { command: 'emailauth', args: [] }, remarks: [] };
  // Desktop programs have another PATH than the shell, and find neither `emailauth` nor the `node` in its first line.
  const node = STABLE_DIRECTORIES.map((directory) => join(directory, 'node')).find(
    (path) => realPathOf(path) === realPathOf(process.execPath),
  );
  const remarks: string[] = [];
  if (scope === 'project')
    remarks.push(
      'The paths are specific to this machine: keep the file out of the repository, or install emailauth globally and run this again.',
    );
  if (own.includes(`${sep}_npx${sep}`))
    remarks.push('npm may clear the cache that npx runs from: install emailauth globally and run this again.');
  else if (!node && /[/\\]v?\d+\.\d+\.\d+[/\\]/.test(process.execPath))
    remarks.push(`Run this again when you change from Node.js ${process.versions.node}: the path contains its version.`);
  return { command: { command: node ?? process.execPath, args: [own] }, remarks };
}

/** Assistants pass on HOME and little else, but XDG_CONFIG_HOME determines where the sign-in is stored. */
function environmentOf({ env }: Context, scope: Scope): Record<string, string> | null {
  const directory = baseDirectory(env.XDG_CONFIG_HOME, env, '.config');
  const isDefault = directory === baseDirectory(undefined, env, '.config');
  return scope === 'project' || isDefault ? null : { XDG_CONFIG_HOME: directory };
}

/** Whether a shell finds this program by its name, apart from the directories that `npm run` and npx add to PATH temporarily. */
function isOnPath(path: string | undefined, own: string): boolean {
  const directories = (path ?? '').split(delimiter).filter((directory) => directory && !directory.includes(join('node_modules', '.bin')));
  const [first] = directories.map((directory) => realPathOf(join(directory, 'emailauth'))).filter(Boolean);
  return first === own;
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Names of properties that carry credentials, also by naming a file of variables or the variables that are passed on. */
const CREDENTIALS = /header|token|auth|secret|credential|api_?key|^env_?(?:file|vars)$/i;
/** A reference to a value that is stored elsewhere, such as `Bearer ${env:EMAILAUTH_TOKEN}`. */
const REFERENCE = /^(?:Bearer )?\$\{(?:env:|input:)?[\w.-]+\}$/;

/** Whether a value is an object of JSON or a table of TOML. */
export const isTable = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date);

/**
 * Returns the new entry with what a person added to the previous one, also in its `env`, provided that both are of the same kind.
 * When the previous one was for another or an unknown service, its credentials are left out.
 * @returns isKeyLeftOut whether something was left out for that reason
 */
export function mergeEntry(before: Entry | null, entry: Entry): { after: Entry; isKeyLeftOut: boolean } {
  if (!before || 'command' in before !== 'command' in entry) return { after: entry, isKeyLeftOut: false };
  const kept = isSameService(before, entry) ? before : withoutCredentials(before);
  const env = { ...tableOf(kept.env), ...tableOf(entry.env) };
  const isWithEnv = isTable(entry.env) || (isTable(kept.env) && Object.keys(env).length > 0);
  const { env: _, ...rest } = kept;
  const after = { ...(isTable(kept.env) ? rest : kept), ...entry, ...(isWithEnv && { env }) };
  return { after, isKeyLeftOut: countOf(kept) < countOf(before) };
}

/**
 * Returns an entry with its secrets masked, since a person may have added a key by hand.
 * @param own the entry that we write, which contains none
 */
export function withoutSecrets(entry: Entry, own: Entry): Entry {
  const shown = ([name, value]: [string, unknown]): [string, unknown] => {
    const isSecret = CREDENTIALS.test(name);
    if (!isTable(value)) return [name, isSecret && value !== own[name] ? '…' : maskKeys(value)];
    if (!isSecret && name !== 'env') return [name, maskKeys(value)];
    const ownValues = tableOf(own[name]);
    const isPublic = (key: string, each: unknown) => each === ownValues[key] || (typeof each === 'string' && REFERENCE.test(each));
    return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, isPublic(key, each) ? each : '…']))];
  };
  return Object.fromEntries(Object.entries(entry).map(shown));
}

/** Masks what has the format of a key, in any property. */
function maskKeys(value: unknown): unknown {
  if (typeof value === 'string') {
    return value
      .replace(/\bBearer [\w.~+/=-]{8,}/g, 'Bearer …')
      .replace(/\bea_(live|test)_\w+/g, 'ea_$1_…')
      .replace(/\b(EMAILAUTH_TOKEN=)\S+/g, '$1…');
  }
  if (Array.isArray(value)) return value.map(maskKeys);
  return isTable(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, maskKeys(each)])) : value;
}

/** Also removes EMAILAUTH_HOST and EMAILAUTH_PROFILE, which name the other service, and references to VS Code's inputs. */
function withoutCredentials({ env, ...others }: Entry): Entry {
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => !CREDENTIALS.test(name)));
  if (!isTable(env)) return rest;
  const isKept = ([name, value]: [string, unknown]) => !name.startsWith('EMAILAUTH_') && !/\$\{input:/.test(String(value));
  return { ...rest, env: Object.fromEntries(Object.entries(env).filter(isKept)) };
}

const countOf = (entry: Entry) => Object.keys(entry).length + Object.keys(tableOf(entry.env)).length;

function isSameService(before: Entry, entry: Entry): boolean {
  const [old, wanted] = [addressesOf(before), addressesOf(entry)];
  return old.length === 0 ? wanted.length === 0 : old.every((address) => wanted.includes(address));
}

/** Returns the origins of the services that an entry names, or the text in their place. */
function addressesOf({ url, httpUrl, serverUrl, args, env }: Entry): string[] {
  const words = Array.isArray(args) ? args.map(String) : [];
  const flags = words.flatMap((word, i) => (word === '--host' ? [words[i + 1]] : word.startsWith('--host=') ? [word.slice(7)] : []));
  const named = [url, httpUrl, serverUrl, ...flags, tableOf(env).EMAILAUTH_HOST].filter((each) => each !== undefined).map(String);
  return named.map((each) => (URL.canParse(each) ? new URL(each).origin : each));
}

const tableOf = (value: unknown): Record<string, unknown> => (isTable(value) ? value : {});

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
