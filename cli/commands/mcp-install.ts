import type { CommandSpec, Context, Flags } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import {
  type AssistantClient,
  CLIENT_IDS,
  type CommandLine,
  clients,
  entryOf,
  requireClient,
  SCOPES,
  type Scope,
  SERVER_NAME,
} from '../mcp/clients.ts';
import type { EntryFlags, WantedServer } from '../mcp/entry.ts';
import { requireConfirmation } from '../prompts.ts';
import { paragraph, shellLine } from '../terminal.ts';

const SCOPE_FLAG = { '--scope <scope>': 'for you everywhere (user), or in this directory (project)' };
const ENTRY_FLAGS = {
  ...SCOPE_FLAG,
  '--http': 'the address of the service instead of a local server',
  '--read-only': 'leave out every tool that changes something',
};

/** The assistant's own program may download something first. */
const RUN_MS = 120_000;
const SHOWN_LINES = 15;

const mcpInstall: CommandSpec = {
  usage: 'mcp install <client>',
  group: 'Integration',
  summary: 'add the MCP server to an assistant',
  about:
    "Shows the assistant's own command that adds the server, and runs it after you confirm. For Cursor it opens the page that adds it. For the others it prints the entry and the path of their file. The entry names the service and the profile in use, and contains no key: the server uses the sign-in on this machine.",
  choices: { client: CLIENT_IDS, '--scope': SCOPES },
  flags: ENTRY_FLAGS,
  examples: ['mcp install claude-code', 'mcp install gemini-cli --scope project', 'mcp install codex --http --yes'],
  json: '{client,scope,action,command,link,path,config,next}; action is ran, opened or printed',
  exits: { 1: "the assistant's own command failed" },
  run: (context, [client = ''], flags) => install(context, requireClient(client), entryFlagsOf(flags)),
};

const mcpConfig: CommandSpec = {
  usage: 'mcp config [client]',
  group: 'Integration',
  summary: "print the entry of an assistant's file, to paste",
  choices: { client: CLIENT_IDS, '--scope': SCOPES },
  flags: ENTRY_FLAGS,
  examples: ['mcp config', 'mcp config vscode --scope project', 'mcp config gemini-cli --http --json'],
  json: '{client,path,config}; without a client a list of them',
  run: (context, [client], flags) => printConfig(context, client, entryFlagsOf(flags)),
};

const mcpUninstall: CommandSpec = {
  usage: 'mcp uninstall <client>',
  group: 'Integration',
  summary: 'print how to remove the MCP server from an assistant',
  about: "Prints the assistant's own command that removes the server, or the entry to delete and the path of its file. It changes nothing.",
  choices: { client: CLIENT_IDS, '--scope': SCOPES },
  flags: SCOPE_FLAG,
  examples: ['mcp uninstall cursor', 'mcp uninstall claude-code --scope project'],
  json: '{client,scope,command,path,entry}',
  run: (context, [client = ''], { scope }) => uninstall(context, requireClient(client), scopeOf(scope)),
};

/** Adds the server by the assistant's own command or link; prints its entry where there is neither. */
async function install(context: Context, client: AssistantClient, flags: EntryFlags): Promise<number> {
  const { terminal } = context;
  const { scope } = flags;
  const { formatFile, machineOf, requirePath, serverFor } = await import('../mcp/entry.ts');
  const path = requirePath(client, scope, machineOf(context), context.cwd);
  const wanted = await serverFor(context, client, flags);
  const config = treeOf(client, wanted);
  const command = client.add?.(wanted.server)[scope] ?? null;
  const link = (scope === 'user' && client.link?.(wanted.server)) || null;
  const next = await nextSteps(context, client, scope, wanted);
  const report = (action: 'ran' | 'opened' | 'printed', text: string) => {
    const steps = next.map((step) => paragraph(step, terminal, '- ', '  '));
    terminal.result({ client: client.id, scope, action, command, link, path, config, next }, [text, '', ...steps].join('\n'));
    return EXIT.ok;
  };
  if (command && (await runOwnCommand(context, client, command))) return report('ran', `${client.name} has the MCP server of Email Auth.`);
  if (link && (await openLink(context, client, link)))
    return report(
      'opened',
      `Confirm it in ${client.name}. If nothing opened, \`emailauth mcp config ${client.id}\` prints the entry to add.`,
    );
  const entry = await formatFile(client, config);
  return report(
    'printed',
    `${link ? `Open this address, which adds it to ${client.name}:\n${link}\n\nOr add` : 'Add'} this to ${path}:\n\n${entry}`,
  );
}

/** Shows an assistant's own command and runs it. Returns false where its program is not installed. @throws CommandError client_failed */
async function runOwnCommand(context: Context, client: AssistantClient, command: CommandLine): Promise<boolean> {
  const { terminal, env, cwd, signal } = context;
  const line = shellLine(command);
  terminal.note(line);
  await requireConfirmation(terminal, 'Run this?');
  const { lastLines, runProgram } = await import('../process-group.ts');
  const { ok, isMissing, output, timedOut } = await runProgram(command, { cwd, env, signal, timeoutMs: RUN_MS });
  if (signal.aborted) throw new CommandError(EXIT.cancelled, 'cancelled', `Cancelled; \`${command[0]}\` was stopped.`);
  if (isMissing) {
    terminal.note(`\`${command[0]}\` is not installed here.`);
    return false;
  }
  if (ok) return true;
  const hint = timedOut
    ? 'Run the command yourself: it may wait for an answer.'
    : `If it has one of that name, remove it first: \`emailauth mcp uninstall ${client.id}\` prints how.`;
  const reason = timedOut ? `It did not end within ${RUN_MS / 1000} s.` : lastLines(output, SHOWN_LINES);
  throw new CommandError(EXIT.failure, 'client_failed', `\`${command[0]}\` did not add the server.\n${reason}`, hint);
}

/** Opens the page of an assistant that adds the server. Returns false where nothing can be opened. */
async function openLink(context: Context, client: AssistantClient, link: string): Promise<boolean> {
  if (!context.terminal.interactive) return false;
  await requireConfirmation(context.terminal, `Open ${client.name}, which shows the server and adds it?`);
  const { openBrowser } = await import('./program.ts');
  return openBrowser(context, link);
}

/** Prints the entry of one client, or of every client that supports the flags. */
async function printConfig(context: Context, id: string | undefined, flags: EntryFlags): Promise<number> {
  const { terminal } = context;
  const { formatFile, machineOf, requirePath, serverFor } = await import('../mcp/entry.ts');
  const isSupported = ({ projectPath, remote }: AssistantClient) => (flags.scope === 'user' || projectPath) && (!flags.http || remote);
  const all = [];
  const remarks = new Set<string>();
  for (const client of id ? [requireClient(id)] : clients.filter(isSupported)) {
    const wanted = await serverFor(context, client, flags);
    for (const remark of wanted.remarks) remarks.add(remark);
    const path = requirePath(client, flags.scope, machineOf(context), context.cwd);
    const config = treeOf(client, wanted);
    all.push({ client, path, config, text: await formatFile(client, config) });
  }
  const results = all.map(({ client, path, config }) => ({ client: client.id, path, config }));
  if (id) terminal.note(`For ${all[0].path}:`);
  const titled = all.map(({ client, path, text }) => `${terminal.style('bold', client.name)}: ${path}\n${text}\n`);
  terminal.result(id ? results[0] : results, id ? all[0].text : titled.join('\n').trimEnd());
  for (const remark of remarks) terminal.note(remark);
  return EXIT.ok;
}

async function uninstall(context: Context, client: AssistantClient, scope: Scope): Promise<number> {
  const { machineOf, requirePath } = await import('../mcp/entry.ts');
  const path = requirePath(client, scope, machineOf(context), context.cwd);
  const command = client.remove?.[scope] ?? null;
  const entry = `${client.key}.${SERVER_NAME}`;
  const text = command ? shellLine(command) : `Delete "${SERVER_NAME}" in "${client.key}" of ${path}.`;
  context.terminal.result({ client: client.id, scope, command, path, entry }, text);
  return EXIT.ok;
}

function entryFlagsOf({ scope, http = false, readOnly = false }: Flags): EntryFlags {
  return { scope: scopeOf(scope), http, readOnly };
}

/** Returns the value of `--scope`, which commander has validated. */
const scopeOf = (given = 'user') => given as Scope;

/** Returns the entry as the tree in the client's file. */
const treeOf = (client: AssistantClient, { server }: WantedServer) => ({ [client.key]: { [SERVER_NAME]: entryOf(client, server) } });

/** Returns what the person does next, as sentences. */
async function nextSteps(context: Context, client: AssistantClient, scope: Scope, { server, remarks }: WantedServer): Promise<string[]> {
  const steps = [...remarks];
  if ('command' in server) {
    const { loginCommand } = await import('../mcp/entry.ts');
    const host = await context.host();
    const stored = (await context.credentials()).storedAt(host);
    const command = await loginCommand(context, 'login');
    if (context.env.EMAILAUTH_TOKEN)
      steps.push(`EMAILAUTH_TOKEN is set here, but assistants may not pass it on: \`${command}\` works for all of them.`);
    else if (!stored) steps.push(`You are not signed in at ${host}: run \`${command}\`, or let the assistant request the email.`);
  }
  return [...steps, client.next(scope), 'Then ask: “Add email login to this app with emailauth.”'];
}

export const mcpInstallCommands: readonly CommandSpec[] = [mcpInstall, mcpUninstall, mcpConfig];
