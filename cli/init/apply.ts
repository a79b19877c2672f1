import { existsSync } from 'node:fs';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit.ts';
import { lastLines } from '../process-group.ts';
import { type Check, runCheck } from './checks.ts';
import { type Change, writeAll } from './files.ts';
import type { CommandLine, PackageManager } from './package-manager.ts';
import { type InitHistory, saveHistory } from './record.ts';
import { type Ended, runProgram } from './run.ts';
import { changesSince, removeOutputs, removePackages, restoreFiles, type Snapshot, takeSnapshot } from './snapshot.ts';

/** What `init` does in a project after the person has confirmed it. */
export type Job = {
  root: string;
  changes: readonly Change[];
  manager: PackageManager | null;
  /** The commands that install the packages, in order; empty when none are missing. */
  installs: readonly CommandLine[];
  checks: readonly Check[];
  /** The app needs the variables of `.env` in its environment. */
  loadEnv: boolean;
  history: InitHistory;
};

/** What was found out about the project. */
export type Outcome = {
  /** The command that passed; null when nothing was checked. */
  verified: string | null;
  /** Sentences about what could not be done. */
  remarks: string[];
};

const INSTALL_MS = 10 * 60_000;
const SHOWN_LINES = 15;

/**
 * Writes the files, installs the packages and runs the project's own checks. When one of them fails, or Ctrl-C is pressed, the project
 * is as it was before.
 * @throws CommandError install_failed, build_failed, cancelled, or what `writeAll` throws
 */
export async function applyJob(context: Context, job: Job): Promise<Outcome> {
  const { root, changes, manager, history } = job;
  const paths = [...changes.map(({ target }) => target), ...(manager?.files ?? [])];
  const snapshot = takeSnapshot(root, paths, manager?.directories ?? []);
  writeAll(root, changes);
  // With this record, `--undo` also works after a power failure.
  const record = (install: CommandLine | null) =>
    saveHistory(root, { ...history, runs: [...history.runs, changesSince(snapshot, install)] });
  let isInstalled = false;
  const rollBack = async (keepPackages = false) => {
    restoreFiles(snapshot);
    if (!keepPackages && isInstalled) await removeInstalled(context, job, snapshot);
    saveHistory(root, history);
  };
  try {
    record(null);
    isInstalled = job.installs.length > 0;
    for (const install of job.installs) await installPackages(context, root, install);
    const outcome = await verify(context, job);
    removeOutputs(snapshot);
    record(isInstalled ? (manager?.install ?? null) : null);
    return outcome;
  } catch (error) {
    if (context.signal.aborted) {
      await rollBack();
      throw new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled; everything was rolled back.');
    }
    if (!(error instanceof CheckFailure)) {
      await rollBack();
      throw error;
    }
    // The packages stay until it is known whether the project fails without the integration too.
    await rollBack(true);
    const baseline = await runOne(context, { ...job, loadEnv: false }, error.check);
    restoreFiles(snapshot);
    if (isInstalled) await removeInstalled(context, job, snapshot);
    if (context.signal.aborted) throw new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled; everything was rolled back.');
    throw buildFailed(error, baseline.ok);
  }
}

/** A check that failed, before the project is rolled back. */
class CheckFailure extends Error {
  readonly check: Check;
  readonly ended: Ended;

  constructor(check: Check, ended: Ended) {
    super(check.label);
    this.check = check;
    this.ended = ended;
  }
}

async function installPackages(context: Context, root: string, install: CommandLine): Promise<void> {
  const label = install.join(' ');
  context.terminal.progress(`Running ${label} …`);
  const ended = await runProgram(install, { cwd: root, timeoutMs: INSTALL_MS, ...runOptions(context) });
  context.terminal.progress('');
  if (ended.ok) return;
  const reason = ended.isMissing ? `${install[0]} is not installed.` : lastLines(ended.output, SHOWN_LINES);
  const hint = 'With --no-install, only the files are written, and installing the packages is left to you.';
  throw new CommandError(EXIT.failure, 'install_failed', `\`${label}\` failed; everything was rolled back.\n${reason}`, hint);
}

/** Runs the checks. @throws CheckFailure */
async function verify(context: Context, job: Job): Promise<Outcome> {
  const passed: string[] = [];
  const remarks: string[] = [];
  for (const check of job.checks) {
    const ended = await runOne(context, job, check);
    if (context.signal.aborted) throw new CheckFailure(check, ended);
    if (ended.isMissing) remarks.push(`\`${check.command[0]}\` is not installed here, so \`${check.label}\` was not run.`);
    else if (!ended.ok) throw new CheckFailure(check, ended);
    else passed.push(check.label);
  }
  return { verified: passed.length > 0 ? passed.join(' && ') : null, remarks };
}

async function runOne(context: Context, { root, loadEnv }: Job, check: Check): Promise<Ended> {
  context.terminal.progress(`Running ${check.label} …`);
  const ended = await runCheck(check, { root, loadEnv, ...runOptions(context) });
  context.terminal.progress('');
  return ended;
}

/** Makes the installed packages those of the restored manifest. */
async function removeInstalled(context: Context, { root, manager }: Job, snapshot: Snapshot): Promise<void> {
  removePackages(snapshot);
  const isLeft = manager?.directories.some((path) => existsSync(path));
  // It continues after Ctrl-C.
  const options = { ...runOptions(context), signal: new AbortController().signal };
  if (manager?.install && isLeft) await runProgram(manager.install, { cwd: root, timeoutMs: INSTALL_MS, ...options });
  restoreFiles(snapshot);
}

const runOptions = ({ env, signal, terminal }: Context) => ({
  env,
  signal,
  onOutput: (text: string) => terminal.detail(text.trimEnd()),
});

function buildFailed({ check, ended }: CheckFailure, passesWithout: boolean): CommandError {
  const reason = lastLines(ended.output, SHOWN_LINES);
  const message = `\`${check.label}\` fails with the integration; everything was rolled back.\n${reason}`;
  const hint = passesWithout
    ? 'It passes without the integration. --no-verify writes the files without running it.'
    : 'It fails without the integration too: correct that first. --no-verify writes the files without running it.';
  return new CommandError(EXIT.failure, 'build_failed', message, hint);
}
