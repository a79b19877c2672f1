import type { Context } from '../../context.ts';
import { EXIT, type ExitCode, usageError } from '../../exit.ts';
import { mustBeWritable, writeAll } from '../../init/files.ts';
import { patchOf } from '../../init/patch.ts';
import { paragraph } from '../../init/report.ts';
import { type AssistantClient, clientOf, type Entry, type Scope } from '../../mcp/clients.ts';
import { type Edited, entryText, NotEditable, putEntry, SERVER } from '../../mcp/config-text.ts';
import { type EntryFlags, entryFor, lineOf, machineOf, type Wanted } from '../../mcp/entry.ts';
import { withoutSecrets } from '../../mcp/entry-before.ts';
import { mustBeInstalled, type Place, pathOf, placeOf } from '../../mcp/place.ts';
import { mustConfirm } from '../../prompts.ts';

export type InstallFlags = EntryFlags & { dryRun: boolean; force: boolean };

/** Writes the MCP server into an assistant's configuration: shows the entry, asks, and only then writes. */
export async function install(context: Context, id: string, flags: InstallFlags): Promise<ExitCode> {
  const { terminal } = context;
  const { scope, dryRun, force } = flags;
  const client = clientOf(id);
  const path = filePath(context, client, scope);
  const wanted = await entryFor(context, client, flags);
  if (scope === 'user' && !force) mustBeInstalled(client, machineOf(context));
  const place = placeOf(path, scope, context.cwd);
  const edited = edit(client, place, wanted);
  const next = await whatIsNext(context, client, scope, wanted, edited);
  // What somebody added to it may be a key.
  const answer = (action: string) => ({ client: id, scope, path, action, config: configOf(client, wanted.entry), next });
  const isUnchanged = place.found.before !== null && edited.text === place.found.before.toString();
  if (isUnchanged) {
    terminal.answer(answer('unchanged'), `${client.name} has it already in ${path}; there is nothing to change.`);
    return EXIT.ok;
  }
  const patch = patchOfEntry(context, client, place, edited, wanted);
  const action = edited.before ? 'replaced' : 'added';
  if (dryRun) {
    terminal.answer(answer(action), patch);
    return EXIT.ok;
  }
  const change = { path: place.inRoot, ...place.found, after: Buffer.from(edited.text), ...(scope === 'user' && { mode: 0o600 }) };
  mustBeWritable(place.root, [change]);
  terminal.note(`${patch}\n`);
  if (!force) await mustConfirm(terminal, edited.before ? `Replace "${SERVER}" in ${path}?` : `Add this to ${path}?`);
  writeAll(place.root, [change]);
  const report = [
    `${client.name} has the MCP server of Email Auth, in ${path}.`,
    '',
    ...next.map((each) => paragraph(each, terminal, '- ', '  ')),
  ];
  terminal.answer(answer(action), report.join('\n'));
  return EXIT.ok;
}

/** @throws CommandError usage where the client has no file of this scope */
export function filePath(context: Context, client: AssistantClient, scope: Scope): string {
  const path = pathOf(client, scope, machineOf(context), context.cwd);
  if (path) return path;
  throw usageError(`${client.name} has no file in projects.`, 'Leave out --scope project.');
}

/** The entry as the tree that a file holds. */
export const configOf = ({ key }: AssistantClient, entry: Entry) => ({ [key]: { [SERVER]: entry } });

function edit(client: AssistantClient, { path, found: { before } }: Place, wanted: Wanted): Edited {
  const text = before?.toString() ?? '';
  const hint = `Mend it and run this again; \`emailauth mcp config ${client.id}\` prints the entry to put in by hand. Nothing was written.`;
  if (before && !Buffer.from(text).equals(before)) throw usageError(`${path} is no UTF-8 text.`, hint);
  try {
    return putEntry(client, text, wanted);
  } catch (error) {
    if (error instanceof NotEditable) throw usageError(`${path} cannot be edited: ${error.message}.`, hint);
    // What is nested so deep is no settings file.
    if (error instanceof RangeError) throw usageError(`${path} cannot be edited: it is nested too deep.`, hint);
    throw error;
  }
}

/** Our entry alone: the entries beside it may hold keys of somebody else. */
function patchOfEntry(
  { terminal }: Context,
  client: AssistantClient,
  { path, found }: Place,
  { before, after }: Edited,
  { entry, inputs }: Wanted,
): string {
  const text = (shown: Entry, also: Wanted['inputs']) => Buffer.from(entryText(client, withoutSecrets(shown, entry), also));
  return patchOf({ path, before: before ? text(before, []) : found.before && Buffer.of(), after: text(after, inputs) }, terminal);
}

async function whatIsNext(
  context: Context,
  client: AssistantClient,
  scope: Scope,
  { entry, remarks }: Wanted,
  { isKeyLeftOut }: Edited,
): Promise<string[]> {
  const steps = [...remarks];
  if (isKeyLeftOut)
    steps.push('The entry before did not name this service: what it held of a sign-in elsewhere (headers, keys, variables) is left out.');
  if ('command' in entry) {
    const host = await context.host();
    const stored = (await context.credentials()).storedAt(host);
    if (context.env.EMAILAUTH_TOKEN)
      steps.push(
        `EMAILAUTH_TOKEN is set here, and assistants may not hand it on: \`${await lineOf(context, 'login')}\` counts for all of them.`,
      );
    else if (!stored)
      steps.push(`Nobody is signed in at ${host}: run \`${await lineOf(context, 'login')}\`, or let the assistant ask for the mail.`);
  }
  return [...steps, client.next(scope), 'Then ask: “Add email login to this app with emailauth.”'];
}
