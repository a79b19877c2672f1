import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '../command.ts';
import { usageError } from '../exit.ts';
import { baseDirectory } from '../installation.ts';
import type { AssistantClient, LocalServer, Machine, Scope, Server } from './clients.ts';

export type EntryFlags = { scope: Scope; http: boolean; readOnly: boolean };

/** How an assistant reaches this service, and notes for the person, as sentences. */
export type WantedServer = { server: Server; remarks: string[] };

const TOKEN = 'EMAILAUTH_TOKEN';
/** Directories in which a program keeps its path when it is updated. */
const STABLE_DIRECTORIES = ['/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin', '/opt/local/bin', '/usr/bin'];

export const machineOf = ({ env }: Context): Machine => ({ env, home: env.HOME || homedir(), platform: process.platform });

/**
 * Returns the server of this service for an assistant. It contains no secret: a stored sign-in is read when the server runs, and a key in
 * the environment is referenced by its name.
 * @throws CommandError usage for flags that the client does not support
 */
export async function serverFor(context: Context, client: AssistantClient, { scope, http, readOnly }: EntryFlags): Promise<WantedServer> {
  if (http) {
    const { value: host } = await context.settings.host();
    const url = `${host}/mcp`;
    if (readOnly) throw usageError('--read-only only works with the local server.', 'Leave out --http or --read-only.');
    if (!client.remote) {
      throw usageError(
        `${client.name} does not support the address of a server in its file.`,
        `Leave out --http; or add ${url} under Settings, Connectors, where it has to be public.`,
      );
    }
    const tokenFrom = context.env[TOKEN]?.trim() ? TOKEN : null;
    const remark = tokenFrom
      ? `It sends the API key in ${TOKEN}, which has to be set where ${client.name} starts; it contains no key.`
      : `It contains no key. When a tool needs your account, ${client.name} signs you in by email in the browser${client.signIn ? `: ${client.signIn}` : ''}.`;
    return { server: { url, tokenFrom }, remarks: [remark] };
  }
  const { command, remarks } = commandLine(context, scope);
  const args = ['mcp', ...(await flagsOf(context)), ...(readOnly ? ['--read-only'] : [])];
  const env = environmentOf(context, scope);
  return { server: { command: command.command, args: [...command.args, ...args], ...(env && { env }) }, remarks };
}

/** Returns the text of a client's file. @param tree its contents */
export async function formatFile({ format }: AssistantClient, tree: object): Promise<string> {
  if (format === 'json') return JSON.stringify(tree, null, 2);
  const { stringify } = await import('smol-toml');
  return stringify(tree).trim();
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
function commandLine({ env }: Context, scope: Scope): { command: LocalServer; remarks: string[] } {
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

/** Returns the path of a client's file. @throws CommandError usage when the client has none in projects */
export function requirePath(client: AssistantClient, scope: Scope, machine: Machine, cwd: string): string {
  if (scope === 'user') return client.userPath(machine);
  if (client.projectPath) return join(cwd, client.projectPath);
  throw usageError(`${client.name} has no configuration file in projects.`, 'Leave out --scope project.');
}
