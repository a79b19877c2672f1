import { resolve } from 'node:path';
import type { LanguageCode } from '../../contract/languages.ts';
import { normalHost } from '../../contract/rules.ts';
import { detectLayout } from '../../templates/detect.ts';
import { type Framework, forProject, variantFor } from '../../templates/framework.ts';
import { readSources } from '../../templates/read.ts';
import { type Integration, render, renderWiring, type TemplateValues } from '../../templates/render.ts';
import type { Context, Flags } from '../command.ts';
import { CommandError, EXIT, usageError } from '../exit.ts';
import { promptText, requireConfirmation } from '../prompts.ts';
import { foreign, paragraph, shellLine, type Terminal } from '../terminal.ts';
import { applyJob, type Check, checksFor, type Outcome } from './apply.ts';
import { patchOf, requireWritable } from './files.ts';
import { findPackages, type Packages } from './package-manager.ts';
import { findRoute, nextStepsAfter, type Plan, planFor, type Step } from './plan.ts';
import { type Project, portOf, readProject } from './project.ts';
import { existsIn, findRegistrationStep, promptDomain, requireDirectory, selectFramework, selectWorkspace } from './questions.ts';
import { type InitHistory, readHistory } from './record.ts';

const LOGIN_PATH = '/login';
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
  history: InitHistory;
};

/**
 * Plans the changes, shows them, asks for confirmation, and only then writes all of them, installs the packages and runs the project's
 * own checks; when one fails, everything is rolled back.
 * @returns the exit code
 */
export async function addSignIn(context: Context, dir: string | undefined, flags: Flags): Promise<number> {
  const { terminal } = context;
  const decision = await decide(context, await selectWorkspace(terminal, requireDirectory(resolve(context.cwd, dir ?? '.'))), flags);
  const { project, framework, plan, integration, domain, packages, checks, history } = decision;
  const { root } = project;
  const changed = plan.steps.filter(({ action }) => action !== 'unchanged');
  const conflicts = flags.force ? [] : changed.filter(({ action }) => action === 'overwritten');
  if (conflicts.length > 0) throw conflictError(conflicts, terminal);

  const registration = await findRegistrationStep(context, domain);
  const left = flags.install === false || !packages.manager ? packages.missing : [];
  const commands = [...installCommands(framework, packages, left), ...integration.commands];
  const next = (outcome: Outcome | null) => [
    ...(registration ? [registration] : []),
    ...(outcome?.remarks ?? []),
    ...nextStepsAfter(framework, integration, plan, decision),
  ];
  const resultOf = (outcome: Outcome | null) => toResult(decision, commands, outcome, next(outcome));
  const title = `The sign-in with ${framework.name} for ${domain}`;
  const installs = left.length > 0 ? [] : packages.add;
  if (changed.length === 0 && installs.length === 0) {
    terminal.result(resultOf(null), `${title} is complete; there is nothing to write.`);
    if (registration) terminal.note(paragraph(registration, terminal));
    return EXIT.ok;
  }
  const patch = changed.map(({ shown }) => patchOf(shown, terminal)).join('\n\n');
  const planned = [...installs, ...(checks.length > 0 && packages.prepare ? [packages.prepare] : [])].map(shellLine);
  const announced = [...planned, ...checks.map(({ label }) => label)].map((command) => `Then run: ${command}`).join('\n');
  if (flags.dryRun) {
    terminal.result(resultOf(null), [patch, announced].filter(Boolean).join('\n\n'));
    if (registration) terminal.note(`\n${paragraph(registration, terminal)}`);
    return EXIT.ok;
  }
  const changes = changed.map(({ change }) => change);
  requireWritable(root, changes);
  for (const text of [patch, announced, registration && paragraph(registration, terminal)]) if (text) terminal.note(`${text}\n`);
  await requireConfirmation(
    terminal,
    `Write ${changes.length === 1 ? 'this file' : `these ${changes.length} files`} into ${foreign(root)}?`,
  );
  // Adding packages installs those of the project as well.
  const all = [...(checks.length > 0 && packages.prepare && installs.length === 0 ? [packages.prepare] : []), ...installs];
  const loadEnv = framework.loadEnv !== undefined;
  const outcome = await applyJob(context, { root, changes, manager: packages.manager, installs: all, checks, loadEnv, history });
  const report = { title: `${title} is written.`, steps: plan.steps, commands, next: next(outcome), verified: outcome.verified };
  terminal.result(resultOf(outcome), formatReport(report, terminal));
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
  renderAt(flags.domain ?? 'localhost', flags.loginPath ?? LOGIN_PATH);
  const history = readHistory(root, context.env);
  const isTaken = (path: string) => takenBy(path, project, framework, renderAt('localhost', path), history);
  const loginPath = await selectLoginPath(context.terminal, flags.loginPath ?? LOGIN_PATH, isTaken);
  const given = flags.domain ?? (await promptDomain(context));
  const integration = renderAt(given, loginPath);
  const wiring = fill(renderWiring, given, loginPath);
  const target = { root, framework, entries: project.entries, wiring, history, force: flags.force === true, loginPath };
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
    history,
  };
}

/** Returns the file of the project that serves the login path already, or null. */
function takenBy(path: string, { root, entries }: Project, { id }: Framework, { files }: Integration, history: InitHistory): string | null {
  const written = new Set(files.map((file) => file.path));
  // What an earlier run wrote may be at another path than the file of this one.
  const recorded = history.runs.flatMap((run) => run.files).map((file) => file.path);
  const found = findRoute(path, { root, framework: id, entries, written });
  return found && !recorded.includes(resolve(root, found)) ? found : null;
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

function conflictError(conflicts: readonly Step[], terminal: Terminal): CommandError {
  for (const { shown } of conflicts) terminal.note(`${patchOf(shown, terminal)}\n`);
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
  };
}

type Report = {
  title: string;
  steps: readonly Step[];
  /** The command that passed, or null. */
  verified: string | null;
  commands: readonly string[];
  next: readonly string[];
};

/** Returns what was done and what is left to do, as text of at most 80 columns, unless code is longer. */
export function formatReport({ title, steps, verified, commands, next }: Report, { style }: Pick<Terminal, 'style'>): string {
  const lines = [title, ''];
  for (const { change, action } of steps)
    lines.push(`  ${style(action === 'unchanged' ? 'dim' : 'green', action.padEnd(11))}  ${foreign(change.path)}`);
  if (verified) lines.push('', paragraph(`\`${verified}\` passed.`, { style }));
  if (commands.length > 0) lines.push('', style('bold', 'Run'), ...commands.map((command) => `  ${style('cyan', command)}`));
  lines.push('', style('bold', 'Next'), ...next.map((sentence) => paragraph(sentence, { style }, '  - ', '    ')));
  return lines.join('\n');
}
