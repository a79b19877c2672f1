import { resolve } from 'node:path';
import type { LanguageCode } from '../../contract/languages.ts';
import { normalHost } from '../../contract/rules.ts';
import { frameworks } from '../../templates/catalog.ts';
import { detectLayout } from '../../templates/detect.ts';
import { readSources } from '../../templates/read.ts';
import { type Integration, render } from '../../templates/render.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../exit.ts';
import { askDomain, whatDomainNeeds } from '../init/domain.ts';
import { mustBeWritable, writeAll } from '../init/files.ts';
import { patchOf } from '../init/patch.ts';
import { planFor, type Step, whatIsNext } from '../init/plan.ts';
import { directoryOf, frameworkFor, holds } from '../init/project.ts';
import { paragraph, reportOf } from '../init/report.ts';
import { mustConfirm } from '../prompts.ts';
import { type Terminal, table } from '../terminal.ts';

export type InitFlags = {
  dir?: string;
  framework?: string;
  domain?: string;
  callback?: string;
  language?: string;
  dryRun?: boolean;
  force?: boolean;
  list?: boolean;
};

/** Writes the sign-in into a project: looks, shows, asks, and only then writes, all of it or nothing. */
export async function init(context: Context, flags: InitFlags): Promise<ExitCode> {
  const { terminal } = context;
  if (flags.list) return list(terminal);
  const root = directoryOf(resolve(context.cwd, flags.dir ?? '.'));
  const framework = await frameworkFor(terminal, root, flags.framework);
  const [origin, sources] = [await context.host(), await readSources(framework)];
  const fill = (domain: string) => {
    const { callback: callbackPath, language } = flags;
    const layout = detectLayout(framework, holds(root));
    return orUsage(() => render(framework, sources, { origin, domain, callbackPath, language: language as LanguageCode, layout }));
  };
  // What is wrong with the flags is told before anything is asked.
  fill(flags.domain ?? 'localhost');
  const given = flags.domain ?? (await askDomain(context));
  const integration = fill(given);
  const domain = normalHost(given) ?? given;
  const plan = planFor(root, integration);
  const changed = plan.steps.filter(({ action }) => action !== 'unchanged');
  const conflicts = flags.force ? [] : changed.filter(({ action }) => action === 'overwritten');
  if (conflicts.length > 0) throw conflictOf(conflicts, terminal);

  const need = await whatDomainNeeds(context, domain);
  const patch = changed.map(({ shown }) => patchOf(shown, terminal)).join('\n\n');
  const next = [...(need ? [need] : []), ...whatIsNext(framework, integration, plan, domain)];
  const answer = answerOf(framework.id, plan.steps, integration, next);
  const what = `The sign-in with ${framework.name} for ${domain}`;
  if (changed.length === 0) {
    terminal.answer(answer, `${what} is there already; there is nothing to write.`);
    if (need) terminal.note(paragraph(need, terminal));
    return EXIT.ok;
  }
  if (flags.dryRun) {
    terminal.answer(answer, patch);
    if (need) terminal.note(`\n${paragraph(need, terminal)}`);
    return EXIT.ok;
  }
  const changes = changed.map(({ change }) => change);
  mustBeWritable(root, changes);
  terminal.note(`${patch}\n`);
  if (need) terminal.note(`${paragraph(need, terminal)}\n`);
  await mustConfirm(terminal, `Write ${changes.length === 1 ? 'this file' : `these ${changes.length} files`} into ${root}?`);
  writeAll(root, changes);
  terminal.answer(answer, reportOf({ title: `${what} is written.`, steps: plan.steps, commands: integration.commands, next }, terminal));
  return EXIT.ok;
}

function list(terminal: Terminal): ExitCode {
  const rows = frameworks.map(({ id, name, language }) => ({ id, name, language }));
  terminal.answer(rows, table(rows.map(({ id, name, language }) => [id, name, language])));
  return EXIT.ok;
}

function orUsage(rendered: () => Integration): Integration {
  try {
    return rendered();
  } catch (error) {
    if (error instanceof RangeError) throw usageError(error.message, 'See `emailauth init --help`.');
    throw error;
  }
}

function conflictOf(conflicts: readonly Step[], terminal: Terminal): CommandError {
  for (const { shown } of conflicts) terminal.note(`${patchOf(shown, terminal)}\n`);
  const paths = conflicts.map(({ change }) => change.path);
  const message = `There already, with other contents: ${paths.join(', ')}. Nothing was written.`;
  return new CommandError(EXIT.conflict, 'conflict', message, 'Move them away, or overwrite them with --force.');
}

/** What `--json` shows: names of variables, never their values. */
function answerOf(framework: string, steps: readonly Step[], { env, commands }: Integration, next: readonly string[]) {
  return {
    framework,
    files: steps.map(({ change, action }) => ({ path: change.path, action })),
    env: env.map(({ name }) => name),
    next: [...commands.map((command) => `Run \`${command}\`.`), ...next],
  };
}
