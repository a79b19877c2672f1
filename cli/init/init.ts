import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { LanguageCode } from '../../contract/languages.ts';
import { WEBSITE_PATHS } from '../../contract/pages.ts';
import { normalHost } from '../../contract/urls.ts';
import { detectLayout } from '../../templates/detect.ts';
import { type Framework, forProject, variantFor } from '../../templates/framework.ts';
import { readSources } from '../../templates/read.ts';
import { type Integration, render, renderWiring, type TemplateValues } from '../../templates/render.ts';
import type { Context, Flags } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit.ts';
import { promptText, requireConfirmation } from '../prompts.ts';
import { type Appearance, foreign, paragraph, shellLine, type Terminal, textWidth } from '../terminal.ts';
import { applyJob, type Check, checksFor, type Outcome } from './apply.ts';
import { valueIn } from './env-file.ts';
import { patchOf, requireWritable } from './files.ts';
import { readGit } from './git.ts';
import { findPackages, type Packages } from './package-manager.ts';
import { findRoute, nextStepsAfter, type Plan, planFor, type Step } from './plan.ts';
import { type Project, portOf, readProject, readText } from './project.ts';
import { existsIn, findRegistration, promptDomain, requireDirectory, selectFramework, selectWorkspace } from './questions.ts';
import { watchedFiles } from './snapshot.ts';
import { findUnheld, type Undo, undoOf } from './undo.ts';

const SUGGESTED_PATH = '/sign-in';

/** Everything that is decided before anything is written. */
type Decision = {
  project: Project;
  /** With the variant that fits the project. */
  framework: Framework;
  variant: string | null;
  domain: string;
  loginPath: string;
  integration: Integration;
  plan: Plan;
  packages: Packages;
  checks: Check[];
};

/**
 * Plans the changes, shows them, asks for confirmation, and only then writes all of them, installs the packages and runs the project's
 * own checks; when one fails, everything is rolled back.
 * @returns the exit code
 */
export async function addSignIn(context: Context, dir: string | undefined, flags: Flags): Promise<number> {
  const { terminal } = context;
  const decision = await decide(context, await selectWorkspace(terminal, requireDirectory(resolve(context.cwd, dir ?? '.'))), flags);
  const { project, framework, plan, integration, domain, packages, checks } = decision;
  const { root } = project;
  const changed = plan.steps.filter(({ action }) => action !== 'unchanged');
  const conflicts = flags.force ? [] : changed.filter(({ action }) => action === 'overwritten');
  if (conflicts.length > 0) throw conflictError(conflicts, terminal);

  const { step: registration, page } = await findRegistration(context, domain);
  const notePage = () => page && terminal.note(`\nThe page of the website shows what is left to do:\n${page}`);
  const left = flags.install === false || !packages.manager ? packages.missing : [];
  const commands = [...installCommands(framework, packages, left), ...integration.commands];
  const next = (outcome: Outcome | null) => [
    ...(registration ? [registration] : []),
    ...(outcome?.remarks ?? []),
    ...nextStepsAfter(framework, integration, plan, decision),
  ];
  const resultOf = (outcome: Outcome | null, undo: Undo | null = null) => toResult(decision, commands, outcome, next(outcome), undo);
  const title = `The sign-in with ${framework.name} for ${domain}`;
  const installs = left.length > 0 ? [] : packages.add;
  if (changed.length === 0 && installs.length === 0) {
    terminal.result(resultOf(null), `${title} is complete; there is nothing to write.`);
    if (registration) terminal.note(paragraph(registration, terminal));
    notePage();
    return EXIT.ok;
  }
  const patch = changed.map(({ shown }) => patchOf(shown, terminal.style)).join('\n\n');
  const planned = [...installs, ...(checks.length > 0 && packages.prepare ? [packages.prepare] : [])].map(shellLine);
  const announced = [...planned, ...checks.map(({ label }) => label)].map((command) => `Then run: ${command}`).join('\n');
  if (flags.dryRun) {
    terminal.result(resultOf(null), [patch, announced].filter(Boolean).join('\n\n'));
    if (registration) terminal.note(`\n${paragraph(registration, terminal)}`);
    return EXIT.ok;
  }
  const changes = changed.map(({ change }) => change);
  requireWritable(root, changes);
  const managed = packages.manager?.files ?? [];
  const watched = watchedFiles(root, [...changes.map(({ target }) => target), ...managed]);
  const git = readGit(root, watched, context.env);
  const unheld = findUnheld(root, git, changed, installs.length > 0 ? managed : []);
  if (unheld.length > 0 && !flags.allowDirty) throw unheldError(unheld);
  for (const text of [patch, announced, registration && paragraph(registration, terminal)]) if (text) terminal.note(`${text}\n`);
  const isInGit = !('reason' in git);
  if (!isInGit)
    terminal.note(`${paragraph(`${git.reason}, so nothing can take the changes back: make a copy of the project first.`, terminal)}\n`);
  const subject = changes.length === 1 ? 'this file' : `these ${changes.length} files`;
  await requireConfirmation(terminal, `Write ${subject} into ${foreign(root)}${isInGit ? '' : ' without git'}?`);
  // Adding packages installs those of the project as well.
  const all = [...(checks.length > 0 && packages.prepare && installs.length === 0 ? [packages.prepare] : []), ...installs];
  const loadEnv = framework.loadEnv !== undefined;
  const outcome = await applyJob(context, { root, changes, watched, manager: packages.manager, installs: all, checks, loadEnv });
  const install = installs.length > 0 ? (packages.manager?.install ?? null) : null;
  const undo = undoOf(realpathSync(context.cwd), root, { git, steps: changed, changed: outcome.changed, install });
  const report = { title: `${title} is written.`, steps: plan.steps, commands, next: next(outcome), verified: outcome.verified, undo };
  terminal.result(resultOf(outcome, undo), formatReport(report, terminal));
  notePage();
  return EXIT.ok;
}

/** Reads the project and asks for what the flags leave open. */
async function decide(context: Context, root: string, flags: Flags): Promise<Decision> {
  const chosen = await selectFramework(context.terminal, root, flags.framework);
  const project = readProject(root);
  const framework = forProject(chosen, project.kind);
  const sources = await readSources(framework);
  const layout = detectLayout(framework, existsIn(root));
  const origin = await context.host();
  const base = {
    origin,
    callbackPath: flags.callback,
    language: flags.language as LanguageCode,
    layout,
    port: portOf(project, framework),
    applied: true,
  };
  const fill = <Filled>(make: (framework: Framework, values: TemplateValues) => Filled, domain: string, loginPath: string): Filled => {
    try {
      return make(framework, { ...base, domain, loginPath });
    } catch (error) {
      if (error instanceof RangeError) throw usageError(error.message, 'See `emailauth init --help`.');
      throw error;
    }
  };
  const renderAt = (given: string, path: string) => fill((each, values) => render(each, sources, values), given, path);
  // Errors in the flags are reported before any prompt.
  renderAt(flags.domain ?? 'localhost', flags.loginPath ?? WEBSITE_PATHS.login);
  const isTaken = (path: string) => takenBy(path, project, framework, renderAt('localhost', path));
  const loginPath = await selectLoginPath(context.terminal, flags.loginPath ?? WEBSITE_PATHS.login, isTaken);
  const given = flags.domain ?? (await promptDomain(context));
  const integration = renderAt(given, loginPath);
  const wiring = fill(renderWiring, given, loginPath);
  const earlier = renderEarlier(root, (values) => render(framework, sources, { ...base, domain: 'localhost', loginPath, ...values }));
  const target = {
    root,
    environment: context.env,
    framework,
    entries: project.entries,
    wiring,
    earlier,
    force: flags.force === true,
    loginPath,
  };
  const plan = planFor(target, integration);
  const packages = await findPackages(project, framework, context.env);
  const isInstallable = packages.missing.length === 0 || (flags.install !== false && packages.manager !== null);
  const written = plan.steps.map(({ change }) => change.path);
  const checks =
    flags.verify === false || !isInstallable || (flags.install === false && packages.prepare !== null)
      ? []
      : checksFor(project, framework, packages.manager, written, context.env);
  const variant = variantFor(chosen, project.kind)?.id ?? null;
  return {
    project,
    framework,
    variant,
    domain: normalHost(given) ?? given,
    loginPath,
    integration,
    plan,
    packages,
    checks,
  };
}

/** Returns the files as an earlier run wrote them, by the values in `.env`; without such values for localhost. A file that differs was edited. */
function renderEarlier(root: string, renderWith: (values: Partial<TemplateValues>) => Integration): Integration['files'] {
  const text = readText(root, '.env') ?? '';
  const [site, origin] = [valueIn(text, 'SITE_URL'), valueIn(text, 'EMAILAUTH_URL')];
  const { hostname, port } = URL.canParse(site) ? new URL(site) : { hostname: '', port: '' };
  try {
    return renderWith({ ...(origin && { origin }), ...(hostname && { domain: hostname, port: Number(port) || undefined }) }).files;
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** Returns the file of the project that serves the login path already, or null. */
function takenBy(path: string, { root, entries }: Project, { id }: Framework, { files }: Integration): string | null {
  return findRoute(path, { root, framework: id, entries, written: new Set(files.map((file) => file.path)) });
}

/** Returns the login path, or another one that is entered when a route of the project has it. */
async function selectLoginPath(terminal: Terminal, path: string, isTaken: (path: string) => string | null): Promise<string> {
  const file = isTaken(path);
  if (!file) return path;
  const message = `${foreign(file)} already serves ${path}.`;
  if (!terminal.interactive) {
    const hint = `Give another path: \`--login-path ${path === SUGGESTED_PATH ? '/email-login' : SUGGESTED_PATH}\`.`;
    throw new CommandError(EXIT.conflict, 'conflict', `${message} Nothing was written.`, hint);
  }
  const validate = (text: string) => {
    try {
      const other = isTaken(text.trim());
      return other ? `${foreign(other)} already serves it.` : undefined;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const question = {
    message: `${message} Which path starts the sign-in?`,
    flag: '--login-path <path>',
    placeholder: SUGGESTED_PATH,
    validate,
  };
  return promptText(terminal, question);
}

/** Returns the commands that install packages and are left to the person. */
function installCommands({ language }: Framework, { add }: Packages, left: readonly string[]): string[] {
  if (left.length === 0) return [];
  if (add.length > 0) return add.map(shellLine);
  return [shellLine([...(language === 'Python' ? ['pip', 'install'] : ['npm', 'install']), ...left])];
}

function unheldError(paths: readonly string[]): CommandError {
  const message = `These files have changes that git does not hold: ${paths.join(', ')}. Nothing was written.`;
  const hint = 'Commit or stage them, so that git can undo what is written; or pass --allow-dirty.';
  return new CommandError(EXIT.conflict, 'uncommitted', message, hint);
}

function conflictError(conflicts: readonly Step[], terminal: Terminal): CommandError {
  for (const { shown } of conflicts) terminal.note(`${patchOf(shown, terminal.style)}\n`);
  const paths = conflicts.map(({ change }) => foreign(change.path));
  const message = `These files exist with other contents: ${paths.join(', ')}. Nothing was written.`;
  return new CommandError(EXIT.conflict, 'conflict', message, 'Move them away, or overwrite them with --force.');
}

/** Returns the result for `--json`, with the names of variables but not their values. */
function toResult(
  { framework, variant, plan, integration, packages }: Decision,
  commands: string[],
  outcome: Outcome | null,
  next: string[],
  undo: Undo | null,
) {
  return {
    framework: framework.id,
    variant,
    files: plan.steps.map(({ change, action }) => ({ path: change.path, action })),
    env: integration.env.map(({ name }) => name),
    packages: packages.missing,
    commands,
    verified: outcome?.verified ?? null,
    next: [...commands.map((command) => `Run \`${command}\`.`), ...next],
    undo: undo && { command: undo.command.join(' '), notes: undo.notes },
  };
}

type Report = {
  title: string;
  steps: readonly Step[];
  /** The command that passed, or null. */
  verified: string | null;
  commands: readonly string[];
  next: readonly string[];
  undo: Undo;
};

/** Returns what was done and what is left to do, as text of at most 80 columns, unless code is longer. */
function formatReport({ title, steps, verified, commands, next, undo }: Report, { style, columns }: Appearance): string {
  const lines = [title, ''];
  for (const { change, action } of steps)
    lines.push(`  ${style(action === 'unchanged' ? 'dim' : 'green', action.padEnd(11))}  ${foreign(change.path)}`);
  if (verified) lines.push('', paragraph(`\`${verified}\` passed.`, { style }));
  if (commands.length > 0) lines.push('', style('bold', 'Run'), ...commands.map((command) => `  ${style('cyan', command)}`));
  const listed = (sentences: readonly string[]) => sentences.map((sentence) => paragraph(sentence, { style }, '  - ', '    '));
  lines.push('', style('bold', 'Next'), ...listed(next));
  if (undo.command.length > 0 || undo.notes.length > 0)
    lines.push(
      '',
      style('bold', 'Undo'),
      ...shellLines(undo.command, textWidth(columns)).map((line) => style('cyan', line)),
      ...listed(undo.notes),
    );
  return lines.join('\n');
}

/** Returns a line for the shell as lines that it reads as one, each within the width unless a word is longer. */
function shellLines(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length + ' '.length + ' \\'.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines.map((line, i) => (i < lines.length - 1 ? `${line} \\` : line));
}
