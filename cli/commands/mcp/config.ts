import type { Context } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit.ts';
import { clientOf, clients } from '../../mcp/clients.ts';
import { entryText } from '../../mcp/config-text.ts';
import { type EntryFlags, entryFor } from '../../mcp/entry.ts';
import { configOf, filePath } from './install.ts';

/** Prints what `mcp install` writes, to paste; of every client that can have it, unless one is named. */
export async function config(context: Context, id: string | undefined, flags: EntryFlags): Promise<ExitCode> {
  const { terminal } = context;
  const asked = id
    ? [clientOf(id)]
    : clients.filter(({ projectPath, http }) => (flags.scope === 'user' || projectPath) && (!flags.http || http));
  const all = [];
  const remarks = new Set<string>();
  for (const client of asked) {
    const wanted = await entryFor(context, client, flags);
    for (const remark of wanted.remarks) remarks.add(remark);
    const path = filePath(context, client, flags.scope);
    all.push({
      id: client.id,
      name: client.name,
      path,
      config: configOf(client, wanted.entry),
      text: entryText(client, wanted.entry, wanted.inputs),
    });
  }
  const answers = all.map(({ id, path, config }) => ({ client: id, path, config }));
  if (id) terminal.note(`For ${all[0].path}:`);
  const text = id ? all[0].text : all.map(({ name, path, text }) => `${terminal.style('bold', name)}: ${path}\n${text}`).join('\n');
  terminal.answer(id ? answers[0] : answers, text.trimEnd());
  for (const remark of remarks) terminal.note(remark);
  return EXIT.ok;
}
