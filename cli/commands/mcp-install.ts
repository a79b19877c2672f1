import type { CommandSpec, Context, Flags } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { type AssistantClient, CLIENT_IDS, clients, type Entry, requireClient, SCOPES, type Scope } from '../mcp/clients.ts';
import type { Edited } from '../mcp/config-text.ts';
import type { EntryFlags, FileLocation, WantedEntry } from '../mcp/entry.ts';
import { requireConfirmation } from '../prompts.ts';
import { paragraph } from '../terminal.ts';

const ENTRY_FLAGS = {
  '--scope <scope>': "the person's own file (user), or one in this directory (project)",
  '--http': 'the address of the service instead of a local server',
  '--read-only': 'leave out every tool that changes something',
};

export const mcpInstall: CommandSpec = {
  usage: 'mcp install <client>',
  group: 'Integration',
  summary: "write the MCP server into an assistant's configuration",
  about:
    'Shows the entry, and writes it after you confirm. Everything else in the file stays. The entry names the service and the profile in use, and contains no key: the server uses the sign-in on this machine.',
  choices: { client: CLIENT_IDS, '--scope': SCOPES },
  flags: {
    ...ENTRY_FLAGS,
    '--dry-run': 'show it as a patch and write nothing',
    '--force': 'without confirmation, and even if the assistant does not seem to be installed',
  },
  examples: ['mcp install cursor', 'mcp install claude-code --scope project', 'mcp install codex --dry-run'],
  json: '{client,scope,path,action,config,next}',
  exits: { 3: 'its file cannot be edited', 5: 'the assistant does not seem to be installed' },
  run: (context, [client = ''], flags) => install(context, requireClient(client), flags),
};

export const mcpConfig: CommandSpec = {
  usage: 'mcp config [client]',
  group: 'Integration',
  summary: 'print what `mcp install` writes, to paste',
  choices: { client: CLIENT_IDS, '--scope': SCOPES },
  flags: ENTRY_FLAGS,
  examples: ['mcp config', 'mcp config vscode --scope project', 'mcp config gemini-cli --http --json'],
  json: '{client,path,config}; without a client a list of them',
  run: (context, [client], flags) => printConfig(context, client, entryFlagsOf(flags)),
};

/** Shows the entry for an assistant's configuration, asks for confirmation, and only then writes it. */
async function install(context: Context, client: AssistantClient, flags: Flags): Promise<number> {
  const { terminal } = context;
  const entryFlags = entryFlagsOf(flags);
  const { scope } = entryFlags;
  const [entries, { SERVER_NAME }, { requireWritable, writeAll }] = await Promise.all([
    import('../mcp/entry.ts'),
    import('../mcp/config-text.ts'),
    import('../init/files.ts'),
  ]);
  const machine = entries.machineOf(context);
  const path = entries.requirePath(client, scope, machine, context.cwd);
  const wanted = await entries.entryFor(context, client, entryFlags);
  if (scope === 'user' && !flags.force) entries.requireInstalled(client, machine);
  const file = entries.locate(path, scope, context.cwd);
  const edited = await editFile(client, file, wanted);
  const next = await nextSteps(context, client, scope, wanted, edited);
  // Without the lines that a person added to the entry, which may contain a key.
  const result = (action: string) => ({ client: client.id, scope, path, action, config: treeOf(client, SERVER_NAME, wanted.entry), next });
  const isUnchanged = file.found.before !== null && edited.text === file.found.before.toString();
  if (isUnchanged) {
    terminal.result(result('unchanged'), `${client.name} already has it in ${path}; there is nothing to change.`);
    return EXIT.ok;
  }
  const patch = await patchOfEntry(context, client, file, edited, wanted);
  const action = edited.before ? 'replaced' : 'added';
  if (flags.dryRun) {
    terminal.result(result(action), patch);
    return EXIT.ok;
  }
  const change = { path: file.pathInRoot, ...file.found, after: Buffer.from(edited.text), ...(scope === 'user' && { mode: 0o600 }) };
  requireWritable(file.root, [change]);
  terminal.note(`${patch}\n`);
  if (!flags.force) await requireConfirmation(terminal, edited.before ? `Replace "${SERVER_NAME}" in ${path}?` : `Add this to ${path}?`);
  writeAll(file.root, [change]);
  const report = [
    `${client.name} has the MCP server of Email Auth, in ${path}.`,
    '',
    ...next.map((each) => paragraph(each, terminal, '- ', '  ')),
  ];
  terminal.result(result(action), report.join('\n'));
  return EXIT.ok;
}

/** Prints the entry of one client, or of every client that supports the flags. */
async function printConfig(context: Context, id: string | undefined, flags: EntryFlags): Promise<number> {
  const { terminal } = context;
  const [{ entryFor, machineOf, requirePath }, { formatEntry, SERVER_NAME }] = await Promise.all([
    import('../mcp/entry.ts'),
    import('../mcp/config-text.ts'),
  ]);
  const isSupported = ({ projectPath, http }: AssistantClient) => (flags.scope === 'user' || projectPath) && (!flags.http || http);
  const all = [];
  const remarks = new Set<string>();
  for (const client of id ? [requireClient(id)] : clients.filter(isSupported)) {
    const wanted = await entryFor(context, client, flags);
    for (const remark of wanted.remarks) remarks.add(remark);
    const path = requirePath(client, flags.scope, machineOf(context), context.cwd);
    const config = treeOf(client, SERVER_NAME, wanted.entry);
    all.push({ id: client.id, name: client.name, path, config, text: formatEntry(client, wanted.entry, wanted.inputs) });
  }
  const results = all.map(({ id, path, config }) => ({ client: id, path, config }));
  if (id) terminal.note(`For ${all[0].path}:`);
  const text = id ? all[0].text : all.map(({ name, path, text }) => `${terminal.style('bold', name)}: ${path}\n${text}`).join('\n');
  terminal.result(id ? results[0] : results, text.trimEnd());
  for (const remark of remarks) terminal.note(remark);
  return EXIT.ok;
}

function entryFlagsOf({ scope, http = false, readOnly = false }: Flags): EntryFlags {
  return { scope: parseScope(scope), http, readOnly };
}

/** Returns the value of `--scope`. @throws CommandError usage */
function parseScope(given = 'user'): Scope {
  const scope = SCOPES.find((each) => each === given);
  if (!scope) throw usageError(`--scope cannot be "${given}".`, `It is one of ${SCOPES.join(', ')}.`);
  return scope;
}

/** Returns the entry as the tree in the client's file. */
const treeOf = ({ key }: AssistantClient, name: string, entry: Entry) => ({ [key]: { [name]: entry } });

/** Returns the edited file. @throws CommandError usage when it cannot be edited */
async function editFile(client: AssistantClient, file: FileLocation, wanted: WantedEntry): Promise<Edited> {
  const { putEntry } = await import('../mcp/config-text.ts');
  const hint = `Fix it and run this again; \`emailauth mcp config ${client.id}\` prints the entry to add by hand. Nothing was written.`;
  return withEditErrors(file, hint, (text) => putEntry(client, text, wanted));
}

/** Edits the text of a client's file. @throws CommandError usage when it cannot be edited, with the hint */
async function withEditErrors<Result>(
  { path, found: { before } }: FileLocation,
  hint: string,
  edit: (text: string) => Result,
): Promise<Result> {
  const { NotEditable } = await import('../mcp/config-text.ts');
  const text = before?.toString() ?? '';
  if (before && !Buffer.from(text).equals(before)) throw usageError(`${path} is not UTF-8 text.`, hint);
  try {
    return edit(text);
  } catch (error) {
    if (error instanceof NotEditable) throw usageError(`${path} cannot be edited: ${error.message}.`, hint);
    // The parsers are recursive.
    if (error instanceof RangeError) throw usageError(`${path} cannot be edited: it is nested too deeply.`, hint);
    throw error;
  }
}

/** Returns a patch of our entry only, since the other entries may contain keys. */
async function patchOfEntry(
  { terminal }: Context,
  client: AssistantClient,
  { path, found }: FileLocation,
  { before, after }: Edited,
  { entry, inputs }: WantedEntry,
): Promise<string> {
  const [{ patchOf }, { formatEntry }, { withoutSecrets }] = await Promise.all([
    import('../init/files.ts'),
    import('../mcp/config-text.ts'),
    import('../mcp/entry.ts'),
  ]);
  const text = (shown: Entry, shownInputs: WantedEntry['inputs']) =>
    Buffer.from(formatEntry(client, withoutSecrets(shown, entry), shownInputs));
  return patchOf({ path, before: before ? text(before, []) : found.before && Buffer.of(), after: text(after, inputs) }, terminal);
}

/** Returns what the person does next, as sentences. */
async function nextSteps(
  context: Context,
  client: AssistantClient,
  scope: Scope,
  { entry, remarks }: WantedEntry,
  { isKeyLeftOut }: Edited,
): Promise<string[]> {
  const { loginCommand } = await import('../mcp/entry.ts');
  const steps = [...remarks];
  if (isKeyLeftOut)
    steps.push('The previous entry was not for this service: its credentials for another one (headers, keys, variables) are left out.');
  if ('command' in entry) {
    const host = await context.host();
    const stored = (await context.credentials()).storedAt(host);
    const command = await loginCommand(context, 'login');
    if (context.env.EMAILAUTH_TOKEN)
      steps.push(`EMAILAUTH_TOKEN is set here, but assistants may not pass it on: \`${command}\` works for all of them.`);
    else if (!stored) steps.push(`You are not signed in at ${host}: run \`${command}\`, or let the assistant request the email.`);
  }
  return [...steps, client.next(scope), 'Then ask: “Add email login to this app with emailauth.”'];
}

export const mcpUninstall: CommandSpec = {
  usage: 'mcp uninstall <client>',
  group: 'Integration',
  summary: "remove the MCP server from an assistant's configuration",
  about:
    'Shows the entry, and removes it after you confirm. Everything else in the file stays, with its comments. You stay signed in on this machine.',
  choices: { client: CLIENT_IDS, '--scope': SCOPES },
  flags: {
    '--scope <scope>': "the person's own file (user), or one in this directory (project)",
    '--dry-run': 'show it as a patch and write nothing',
  },
  examples: ['mcp uninstall cursor', 'mcp uninstall claude-code --scope project', 'mcp uninstall codex --dry-run'],
  json: '{client,scope,path,action}',
  exits: { 3: 'its file cannot be edited' },
  run: (context, [client = ''], { scope, dryRun = false }) => uninstall(context, requireClient(client), parseScope(scope), dryRun),
};

/** Shows the entry in an assistant's configuration, asks for confirmation, and only then removes it. */
async function uninstall(context: Context, client: AssistantClient, scope: Scope, dryRun: boolean): Promise<number> {
  const { terminal } = context;
  const [{ locate, machineOf, requirePath }, { removeEntry }, { requireWritable, writeAll }] = await Promise.all([
    import('../mcp/entry.ts'),
    import('../mcp/remove-entry.ts'),
    import('../init/files.ts'),
  ]);
  const path = requirePath(client, scope, machineOf(context), context.cwd);
  const file = locate(path, scope, context.cwd);
  const hint = 'Fix it and run this again, or remove the entry by hand. Nothing was written.';
  const edited = await withEditErrors(file, hint, (text) => removeEntry(client, text));
  const result = (action: string) => ({ client: client.id, scope, path, action });
  if (!edited) {
    terminal.result(result('unchanged'), `${client.name} does not have it in ${path}; there is nothing to remove.`);
    return EXIT.ok;
  }
  const patch = await patchOfRemoval(context, client, file, edited.before);
  if (dryRun) {
    terminal.result(result('removed'), patch);
    return EXIT.ok;
  }
  const change = { path: file.pathInRoot, ...file.found, after: Buffer.from(edited.text) };
  requireWritable(file.root, [change]);
  terminal.note(`${patch}\n`);
  await requireConfirmation(terminal, `Remove this from ${path}?`);
  writeAll(file.root, [change]);
  terminal.result(result('removed'), `${client.name} no longer has the MCP server of Email Auth; restart it.`);
  return EXIT.ok;
}

/** Returns a patch of our entry only, with its secrets masked: a person may have added a key by hand. */
async function patchOfRemoval({ terminal }: Context, client: AssistantClient, { path }: FileLocation, entry: Entry): Promise<string> {
  const [{ patchOf }, { formatEntry }, { withoutSecrets }] = await Promise.all([
    import('../init/files.ts'),
    import('../mcp/config-text.ts'),
    import('../mcp/entry.ts'),
  ]);
  return patchOf({ path, before: Buffer.from(formatEntry(client, withoutSecrets(entry, {}))), after: Buffer.of() }, terminal);
}
