import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context } from '../context.ts';
import { usageError } from '../exit.ts';
import type { AssistantClient, Entry, Machine, Scope, StdioCommand } from './clients.ts';

export type EntryFlags = { scope: Scope; http: boolean; readOnly: boolean };

/** What goes into a client's file, and what the person should know of it, as sentences. */
export type Wanted = { entry: Entry; inputs: { id: string }[]; remarks: string[] };

const TOKEN = 'EMAILAUTH_TOKEN';
/** Directories whose programs keep their path when they are updated. */
const LASTING = ['/usr/local/bin', '/opt/homebrew/bin', '/home/linuxbrew/.linuxbrew/bin', '/opt/local/bin', '/usr/bin'];

export const machineOf = ({ env }: Context): Machine => ({ env, home: env.HOME || homedir(), platform: process.platform });

/**
 * The entry of this service for a client. No secret is in it: a stored sign-in is read when the server runs, and a key of the
 * environment is referred to by its name.
 * @throws CommandError usage for what the client cannot do
 */
export async function entryFor(context: Context, client: AssistantClient, { scope, http, readOnly }: EntryFlags): Promise<Wanted> {
  const { value: host } = await context.settings.host();
  const tokenFrom = context.env[TOKEN]?.trim() ? TOKEN : null;
  if (http) {
    const url = `${host}/mcp`;
    if (readOnly) throw usageError('--read-only goes with the local server alone.', 'Leave out --http or --read-only.');
    if (!client.http) {
      throw usageError(
        `${client.name} takes no address in its file.`,
        `Leave out --http; or add ${url} under Settings, Connectors, where it has to be public.`,
      );
    }
    const remark = tokenFrom
      ? `It sends the API key ${client.inputs ? 'that VS Code asks for' : `in ${TOKEN}, which has to be set where ${client.name} starts`}; the file holds no key.`
      : `It sends no key: your own sites stay out of reach. Set ${TOKEN} to an API key of the dashboard and run this again.`;
    const inputs = tokenFrom && client.inputs ? client.inputs(url) : [];
    return { entry: client.http(url, tokenFrom), inputs, remarks: [remark] };
  }
  const { command, remarks } = commandLine(context, scope);
  const args = ['mcp', ...(await flagsOf(context)), ...(readOnly ? ['--read-only'] : [])];
  const env = environmentOf(context, scope);
  const entry = client.stdio({ command: command.command, args: [...command.args, ...args], ...(env && { env }) });
  return { entry, inputs: [], remarks };
}

/** What a person types to sign in or out for a server of these settings. */
export const lineOf = async (context: Context, command: 'login' | 'logout') =>
  [`emailauth ${command}`, ...(await flagsOf(context))].join(' ');

/** The service and the profile in use, unless they are what a command takes by itself. */
async function flagsOf({ settings }: Context): Promise<string[]> {
  const { value: host, source } = await settings.host();
  return [...(source === 'default' ? [] : ['--host', host]), ...(settings.profile === 'default' ? [] : ['--profile', settings.profile])];
}

/** How this very program is started by another one. */
function commandLine({ env }: Context, scope: Scope): { command: StdioCommand; remarks: string[] } {
  const own = realpathSync(fileURLToPath(new URL('../main.js', import.meta.url)));
  // A project's file goes to other machines: there the name is right, here the shell finds it.
  if (scope === 'project' && process.platform !== 'win32' && isOnPath(env.PATH, own))
    return { command: { command: 'emailauth', args: [] }, remarks: [] };
  // Programs with a window have another PATH than the shell, and find neither `emailauth` nor the `node` in its first line.
  const node = LASTING.map((directory) => join(directory, 'node')).find((path) => realPathOf(path) === realPathOf(process.execPath));
  const remarks: string[] = [];
  if (scope === 'project')
    remarks.push('The paths are of this machine: keep the file out of the repository, or install emailauth globally and run this again.');
  if (own.includes(`${sep}_npx${sep}`)) remarks.push('npm may clear the place that npx runs from: after a global install run this again.');
  else if (!node && /[/\\]v?\d+\.\d+\.\d+[/\\]/.test(process.execPath))
    remarks.push(`Run this again when you change from Node.js ${process.versions.node}: the path has its version.`);
  return { command: { command: node ?? process.execPath, args: [own] }, remarks };
}

/** Assistants hand on HOME and little else; the sign-in lies where XDG_CONFIG_HOME says. */
function environmentOf({ env }: Context, scope: Scope): Record<string, string> | null {
  const { XDG_CONFIG_HOME } = env;
  if (scope === 'project' || !XDG_CONFIG_HOME?.startsWith('/') || XDG_CONFIG_HOME === join(env.HOME || homedir(), '.config')) return null;
  return { XDG_CONFIG_HOME };
}

/** Whether a shell finds this program by its name. What `npm run` and npx add to PATH is there for a moment alone. */
function isOnPath(path: string | undefined, own: string): boolean {
  const lasting = (path ?? '').split(delimiter).filter((directory) => directory && !directory.includes(join('node_modules', '.bin')));
  const [first] = lasting.map((directory) => realPathOf(join(directory, 'emailauth'))).filter(Boolean);
  return first === own;
}

function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
