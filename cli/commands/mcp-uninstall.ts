import type { CommandSpec } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import type { FileLocation } from '../mcp/client-file.ts';
import { type AssistantClient, CLIENT_IDS, type Entry, requireClient, SCOPES, type Scope } from '../mcp/clients.ts';
import { requireConfirmation } from '../prompts.ts';
import { parseScope, withEditErrors } from './mcp-install.ts';

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
  const [{ machineOf }, clientFile, { removeEntry }, { requireWritable, writeAll }] = await Promise.all([
    import('../mcp/entry.ts'),
    import('../mcp/client-file.ts'),
    import('../mcp/remove-entry.ts'),
    import('../init/files.ts'),
  ]);
  const path = clientFile.requirePath(client, scope, machineOf(context), context.cwd);
  const file = clientFile.locate(path, scope, context.cwd);
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
    import('../init/report.ts'),
    import('../mcp/config-text.ts'),
    import('../mcp/merge-entry.ts'),
  ]);
  return patchOf({ path, before: Buffer.from(formatEntry(client, withoutSecrets(entry, {}))), after: Buffer.of() }, terminal);
}
