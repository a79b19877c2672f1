import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { Framework } from '../../templates/framework.ts';
import type { Context } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import type { Environment } from '../installation.ts';
import { type Ended, lastLines, runProgram } from '../process-group.ts';
import { shellLine } from '../terminal.ts';
import { type Change, writeAll } from './files.ts';
import { type CommandLine, findPython, type PackageManager } from './package-manager.ts';
import { type Project, readText } from './project.ts';
import { changedSince, removeOutputs, removePackages, restoreFiles, type Snapshot, takeSnapshot } from './snapshot.ts';

/** What `init` does in a project after the person has confirmed it. */
type Job = {
  root: string;
  changes: readonly Change[];
  /** The files that may change, as absolute paths. */
  watched: readonly string[];
  manager: PackageManager | null;
  /** The commands that install the packages, in order; empty when none are missing. */
  installs: readonly CommandLine[];
  checks: readonly Check[];
  /** The app needs the variables of `.env` in its environment. */
  loadEnv: boolean;
};

/** What was found out about the project. */
export type Outcome = {
  /** The command that passed; null when nothing was checked. */
  verified: string | null;
  /** Sentences about what could not be done. */
  remarks: string[];
  /** The files that are different now, as absolute paths. */
  changed: string[];
};

const INSTALL_MS = 10 * 60_000;
const SHOWN_LINES = 15;

/**
 * Writes the files, installs the packages and runs the project's own checks. When one of them fails, or Ctrl-C is pressed, the project
 * is as it was before.
 * @throws CommandError install_failed, build_failed, cancelled, or what `writeAll` throws
 */
export async function applyJob(context: Context, job: Job): Promise<Outcome> {
  const { root, changes, watched, manager } = job;
  const snapshot = takeSnapshot(root, watched, manager?.directories ?? []);
  writeAll(root, changes);
  const isInstalled = job.installs.length > 0;
  try {
    for (const install of job.installs) await installPackages(context, root, install);
    const found = await verify(context, job);
    removeOutputs(snapshot);
    return { ...found, changed: changedSince(snapshot) };
  } catch (error) {
    restoreFiles(snapshot);
    if (isInstalled) await removeInstalled(context, job, snapshot);
    throw context.signal.aborted ? new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled; everything was rolled back.') : error;
  }
}

async function installPackages(context: Context, root: string, install: CommandLine): Promise<void> {
  const label = shellLine(install);
  context.terminal.progress(`Running ${label} …`);
  const ended = await runProgram(install, { cwd: root, timeoutMs: INSTALL_MS, ...runOptions(context) });
  context.terminal.progress('');
  if (ended.ok) return;
  const reason = ended.isMissing ? `${install[0]} is not installed.` : lastLines(ended.output, SHOWN_LINES);
  const hint = 'With --no-install, only the files are written, and installing the packages is left to you.';
  throw new CommandError(EXIT.failure, 'install_failed', `\`${label}\` failed; everything was rolled back.\n${reason}`, hint);
}

/** Runs the checks. @throws CommandError build_failed */
async function verify(context: Context, { root, loadEnv, checks }: Job): Promise<Omit<Outcome, 'changed'>> {
  const passed: string[] = [];
  const remarks: string[] = [];
  for (const check of checks) {
    context.terminal.progress(`Running ${check.label} …`);
    const { ok, isMissing, output } = await runCheck(check, { root, loadEnv, ...runOptions(context) });
    context.terminal.progress('');
    context.signal.throwIfAborted();
    if (isMissing) remarks.push(`\`${check.command[0]}\` is not installed here, so \`${check.label}\` was not run.`);
    else if (!ok) throw buildFailed(check, output);
    else passed.push(check.label);
  }
  return { verified: passed.length > 0 ? passed.join(' && ') : null, remarks };
}

/** Makes the installed packages those of the restored manifest. */
async function removeInstalled(context: Context, { root, manager }: Job, snapshot: Snapshot): Promise<void> {
  removePackages(snapshot);
  const isLeft = manager?.directories.some((path) => existsSync(path));
  // It continues after Ctrl-C.
  const options = { ...runOptions(context), signal: new AbortController().signal };
  if (manager?.install && isLeft) {
    context.terminal.progress(`Rolling back: running ${shellLine(manager.install)} …`);
    await runProgram(manager.install, { cwd: root, timeoutMs: INSTALL_MS, ...options });
    context.terminal.progress('');
  }
  restoreFiles(snapshot);
}

const runOptions = ({ env, signal, terminal }: Context) => ({
  env,
  signal,
  onOutput: (text: string) => terminal.detail(text.trimEnd()),
});

function buildFailed({ label }: Check, output: string): CommandError {
  const message = `\`${label}\` failed with the integration; everything was rolled back.\n${lastLines(output, SHOWN_LINES)}`;
  const hint = 'Run it without the integration: if it fails too, correct that first. --no-verify writes the files without running it.';
  return new CommandError(EXIT.failure, 'build_failed', message, hint);
}

/** A command that fails when a project does not work. */
export type Check = {
  /** For people: `npm run build`. */
  label: string;
  command: CommandLine;
  /** The app works once it listens on a port; it is then stopped. It does not open the port, which another program may use. */
  untilItListens?: true;
  env?: Readonly<Record<string, string>>;
};

/** Time limit of a build. */
const BUILD_MS = 10 * 60_000;
/** Time limit for an app that neither listens nor exits: it waits for something else, such as a database. */
const LISTEN_MS = 30_000;

/**
 * Returns the commands that show whether a project works: its own script `build`, else its script that starts it, else what its
 * language has. Empty when nothing can be checked.
 * @param written the files that the integration writes or changes
 */
export function checksFor(
  project: Project,
  framework: Framework,
  manager: PackageManager | null,
  written: readonly string[],
  env: Environment,
): Check[] {
  const language = framework.language === 'JavaScript' || framework.language === 'TypeScript' ? 'node' : framework.language;
  switch (language) {
    case 'node':
      return checkNode(project, manager);
    case 'Python':
      return checkPython(project, framework, written, env);
    case 'Go':
      return [check(['go', 'build', '-o', devNull, './...'])];
    case 'PHP':
      return written.filter((path) => path.endsWith('.php') && !path.endsWith('.blade.php')).map((path) => check(['php', '-l', path]));
    case 'Ruby':
      return written.filter((path) => /\.r[bu]$/.test(path)).map((path) => check(['ruby', '-c', path]));
    default:
      return [];
  }
}

const check = (command: CommandLine, rest: Partial<Check> = {}): Check => ({ label: shellLine(command), command, ...rest });

function checkNode({ root, manifest, entries }: Project, manager: PackageManager | null): Check[] {
  const scripts = manifest?.scripts ?? {};
  const run = (script: string, rest: Partial<Check> = {}): Check[] =>
    manager?.run ? [check([...manager.run, script] as unknown as CommandLine, rest)] : [];
  if (scripts.build) return run('build');
  const start = ['start', 'dev', 'serve'].find((name) => scripts[name]);
  if (start) return run(start, { untilItListens: true });
  const [entry] = entries;
  if (entry && /\.[mc]?js$/.test(entry))
    return [check([process.execPath, entry], { label: shellLine(['node', entry]), untilItListens: true })];
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  return existsSync(compiler) ? [check([process.execPath, compiler, '--noEmit'], { label: 'tsc --noEmit' })] : [];
}

function checkPython({ root, entries }: Project, { id }: Framework, written: readonly string[], env: Environment): Check[] {
  const python = findPython(root, env).path;
  // Compiled files would be left behind.
  const common = { PYTHONDONTWRITEBYTECODE: '1' };
  if (id === 'django') return [check([python, 'manage.py', 'check'], { env: common })];
  const creates = id === 'flask' ? /\bFlask\s*\(/ : /\bFastAPI\s*\(/;
  const candidates = [...written, ...entries].filter((path) => path.endsWith('.py'));
  const entry = candidates.find((path) => creates.test(readText(root, path) ?? ''));
  const [, source, module] = /^(src\/)?((?:\w+\/)*\w+)\.py$/.exec(entry ?? '') ?? [];
  if (!module) return [];
  const name = module.replace(/\/__init__$/, '').replaceAll('/', '.');
  // Flask loads the app with its own command, since a factory is not called by an import.
  const command: CommandLine = id === 'flask' ? [python, '-m', 'flask', '--app', name, 'routes'] : [python, '-c', `import ${name}`];
  return [check(command, { env: source ? { ...common, PYTHONPATH: join(root, 'src') } : common })];
}

/** Writes to the file in EMAILAUTH_LISTENS instead of opening a port. A pipe, such as the one of tsx, is opened. */
const REPORT_LISTENING = `import net from 'node:net';
import { writeFileSync } from 'node:fs';
const { listen } = net.Server.prototype;
net.Server.prototype.listen = function (...args) {
  const [first] = args;
  const isPipe = (typeof first === 'string' && !/^\\d+$/.test(first)) || (first && typeof first === 'object' && first.path);
  if (isPipe || !process.env.EMAILAUTH_LISTENS) return listen.apply(this, args);
  writeFileSync(process.env.EMAILAUTH_LISTENS, '');
  return this;
};`;

/**
 * Runs a check in a project.
 * @param loadEnv whether the app needs the variables of `.env` in its environment
 */
async function runCheck(
  { command, untilItListens, env: added }: Check,
  { root, loadEnv, env, ...options }: ReturnType<typeof runOptions> & { root: string; loadEnv: boolean },
): Promise<Ended> {
  const own = loadEnv ? parseEnv(readText(root, '.env')?.replace(/^\uFEFF/, '') ?? '') : {};
  const base = { ...env, ...own, ...added };
  if (!untilItListens) return runProgram(command, { ...options, cwd: root, env: base, timeoutMs: BUILD_MS });
  const directory = mkdtempSync(join(tmpdir(), 'emailauth-check-'));
  const marker = join(directory, 'listens');
  const preload = `--import=data:text/javascript,${encodeURIComponent(REPORT_LISTENING)}`;
  const listens = { EMAILAUTH_LISTENS: marker, NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} ${preload}`.trim() };
  try {
    const until = () => existsSync(marker);
    const ended = await runProgram(command, { ...options, cwd: root, env: { ...base, ...listens }, timeoutMs: LISTEN_MS, until });
    // An app that is still running has not failed.
    return ended.timedOut && !options.signal.aborted ? { ...ended, ok: true } : ended;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
