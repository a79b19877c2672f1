import { resolve } from 'node:path';
import type { LanguageCode } from '../../contract/languages.ts';
import type { Framework } from '../../templates/framework.ts';
import type { Integration } from '../../templates/render.ts';
import type { CommandSpec, Flags } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, usageError } from '../exit.ts';
import type { Step } from '../init/plan.ts';
import type { patchOf as PatchOf } from '../init/report.ts';
import { requireConfirmation } from '../prompts.ts';
import type { Terminal } from '../terminal.ts';
import { paragraph, table } from '../text.ts';

export const init: CommandSpec = {
  usage: 'init [dir]',
  choices: { dir: 'files', '--framework': 'frameworks', '--domain': 'sites' },
  group: 'Integration',
  summary: 'write the sign-in into a project',
  about:
    'Detects the framework, shows what it would write, and writes it after you confirm. It never overwrites a file without --force, and existing lines of .env stay.',
  flags: {
    '--framework <id>': 'instead of the detected one',
    '--domain <domain>': 'of the website; localhost during development',
    '--callback <path>': 'where visitors return to (/auth/callback)',
    '--language <code>': 'of the sign-in page',
    '--dry-run': 'show it as a patch and write nothing',
    '--force': 'overwrite existing files',
    '--list': 'list the frameworks, and do nothing else',
  },
  examples: ['init', 'init --framework express --domain shop.example', 'init web --dry-run', 'init --list'],
  json: '{framework,files,env,next}; with --list [{id,name,language}]',
  exits: { 6: 'files exist already and --force was not given' },
  run: (context, [dir], flags) => (flags.list ? listFrameworks(context.terminal) : addSignIn(context, dir, flags)),
};

async function listFrameworks(terminal: Terminal): Promise<number> {
  const { frameworks } = await import('../../templates/catalog.ts');
  const rows = frameworks.map(({ id, name, language }) => ({ id, name, language }));
  terminal.result(rows, table(rows.map(({ id, name, language }) => [id, name, language])));
  return EXIT.ok;
}

/** Plans the changes, shows them, asks for confirmation, and only then writes all of them, or none. */
async function addSignIn(context: Context, dir: string | undefined, flags: Flags): Promise<number> {
  const { terminal } = context;
  const [{ normalHost }, { planFor, nextStepsAfter }, { patchOf, formatReport }, { requireWritable, writeAll }, questions] =
    await Promise.all([
      import('../../contract/rules.ts'),
      import('../init/plan.ts'),
      import('../init/report.ts'),
      import('../init/files.ts'),
      import('../init/questions.ts'),
    ]);
  const root = questions.requireDirectory(resolve(context.cwd, dir ?? '.'));
  const framework = await questions.selectFramework(terminal, root, flags.framework);
  const renderFor = await openTemplate(context, framework, root, flags);
  // Errors in the flags are reported before any prompt.
  renderFor(flags.domain ?? 'localhost');
  const given = flags.domain ?? (await questions.promptDomain(context));
  const integration = renderFor(given);
  const domain = normalHost(given) ?? given;
  const plan = planFor(root, integration);
  const changed = plan.steps.filter(({ action }) => action !== 'unchanged');
  const conflicts = flags.force ? [] : changed.filter(({ action }) => action === 'overwritten');
  if (conflicts.length > 0) throw conflictError(conflicts, terminal, patchOf);

  const registrationStep = await questions.findRegistrationStep(context, domain);
  const patch = changed.map(({ shown }) => patchOf(shown, terminal)).join('\n\n');
  const next = [...(registrationStep ? [registrationStep] : []), ...nextStepsAfter(framework, integration, plan, domain)];
  const result = toResult(framework.id, plan.steps, integration, next);
  const title = `The sign-in with ${framework.name} for ${domain}`;
  if (changed.length === 0) {
    terminal.result(result, `${title} is complete; there is nothing to write.`);
    if (registrationStep) terminal.note(paragraph(registrationStep, terminal));
    return EXIT.ok;
  }
  if (flags.dryRun) {
    terminal.result(result, patch);
    if (registrationStep) terminal.note(`\n${paragraph(registrationStep, terminal)}`);
    return EXIT.ok;
  }
  const changes = changed.map(({ change }) => change);
  requireWritable(root, changes);
  terminal.note(`${patch}\n`);
  if (registrationStep) terminal.note(`${paragraph(registrationStep, terminal)}\n`);
  await requireConfirmation(terminal, `Write ${changes.length === 1 ? 'this file' : `these ${changes.length} files`} into ${root}?`);
  writeAll(root, changes);
  const report = { title: `${title} is written.`, steps: plan.steps, commands: integration.commands, next };
  terminal.result(result, formatReport(report, terminal));
  return EXIT.ok;
}

/** Returns a function that renders the framework's files for a domain. It throws a CommandError usage for flags that are not valid. */
async function openTemplate(
  context: Context,
  framework: Framework,
  root: string,
  { callback: callbackPath, language }: Flags,
): Promise<(domain: string) => Integration> {
  const [{ readSources }, { layoutOf }, { render }, { existsIn }] = await Promise.all([
    import('../../templates/read.ts'),
    import('../../templates/recognise.ts'),
    import('../../templates/render.ts'),
    import('../init/questions.ts'),
  ]);
  const [origin, sources] = [await context.host(), await readSources(framework)];
  return (domain) => {
    const layout = layoutOf(framework, existsIn(root));
    try {
      return render(framework, sources, { origin, domain, callbackPath, language: language as LanguageCode, layout });
    } catch (error) {
      if (error instanceof RangeError) throw usageError(error.message, 'See `emailauth init --help`.');
      throw error;
    }
  };
}

function conflictError(conflicts: readonly Step[], terminal: Terminal, patchOf: typeof PatchOf): CommandError {
  for (const { shown } of conflicts) terminal.note(`${patchOf(shown, terminal)}\n`);
  const paths = conflicts.map(({ change }) => change.path);
  const message = `These files exist with other contents: ${paths.join(', ')}. Nothing was written.`;
  return new CommandError(EXIT.conflict, 'conflict', message, 'Move them away, or overwrite them with --force.');
}

/** Returns the result for `--json`, with the names of variables but not their values. */
function toResult(framework: string, steps: readonly Step[], { env, commands }: Integration, next: readonly string[]) {
  return {
    framework,
    files: steps.map(({ change, action }) => ({ path: change.path, action })),
    env: env.map(({ name }) => name),
    next: [...commands.map((command) => `Run \`${command}\`.`), ...next],
  };
}
