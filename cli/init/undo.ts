import { existsSync, readFileSync, rmSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { applyPatch, structuredPatch } from 'diff';
import type { Context } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { lastLines, runProgram } from '../process-group.ts';
import { requireConfirmation } from '../prompts.ts';
import { patchOf } from './files.ts';
import type { CommandLine } from './package-manager.ts';
import { type InitHistory, readHistory, removeEmpty, restoreFile, saveHistory } from './record.ts';

/** What `--undo` does to one file. */
type Undone = {
  path: string;
  current: Buffer | null;
  /** Contents after it; null removes the file. */
  after: Buffer | null;
  mode: number | null;
  /** Edited since, in the lines that `init` wrote: it stays. */
  isKept: boolean;
};

const INSTALL_MS = 10 * 60_000;

/**
 * Removes what all runs of `init` wrote into a project: files, lines of `.env`, changes of existing files and packages. A file that
 * was edited since keeps the edits; where they overlap with what `init` wrote, it stays unless `force` is set.
 * @returns the exit code
 * @throws CommandError not_found when `init` wrote nothing into the project
 */
export async function undoInit(context: Context, root: string, force: boolean): Promise<number> {
  const { terminal } = context;
  const history = readHistory(root, context.env);
  if (history.runs.length === 0) {
    const hint = 'Give the directory into which it wrote: `emailauth init <dir> --undo`.';
    throw new CommandError(EXIT.notFound, 'not_found', `There is nothing to undo in ${root}.`, hint);
  }
  const shown = (path: string) => relative(root, path).split(sep).join('/');
  const undone = planUndo(history, force);
  const changed = undone.filter(({ current, after, isKept }) => !isKept && !sameBytes(current, after));
  const kept = undone.filter(({ isKept }) => isKept).map(({ path }) => shown(path));
  for (const { path, current, after } of changed) terminal.note(`${summarize(shown(path), current, after, terminal)}\n`);
  if (kept.length > 0) terminal.note(`Edited since, so they are kept: ${kept.join(', ')}. --force restores them as well.\n`);
  await requireConfirmation(terminal, `Undo the integration in ${root}?`);

  for (const { path, after, mode } of changed) restoreFile(path, after, mode);
  removeEmpty(history.runs.flatMap(({ directories }) => directories).sort((one, other) => one.length - other.length));
  await removePackages(context, root, history, changed);
  // What was kept can be undone with --force later.
  saveHistory(root, kept.length > 0 ? onlyKept(history, undone) : { ...history, runs: [] });
  const files = undone.map(({ path, after, isKept }) => ({ path: shown(path), action: isKept ? 'kept' : after ? 'restored' : 'removed' }));
  const lines = files.map(({ path, action }) => `  ${action.padEnd(8)}  ${path}`);
  terminal.result({ files, kept }, ['The integration is removed.', '', ...lines].join('\n'));
  return EXIT.ok;
}

/** Undoes the runs in memory, the newest first. */
function planUndo({ runs }: InitHistory, force: boolean): Undone[] {
  const files = new Map<string, Undone>();
  for (const run of runs.toReversed()) {
    for (const { path, before, after, mode } of run.files) {
      const read = () => (existsSync(path) ? readFileSync(path) : null);
      const file = files.get(path) ?? { path, current: read(), after: read(), mode: null, isKept: false };
      files.set(path, file);
      file.mode = mode;
      if (file.isKept) continue;
      const reverted = revert(path, file.after, fromBase64(after), fromBase64(before));
      if (reverted === undefined && !force) file.isKept = true;
      else file.after = reverted === undefined ? fromBase64(before) : reverted;
    }
  }
  return [...files.values()];
}

/** Returns the contents of a file without a change: null for no file, undefined when it was edited in the same lines. */
function revert(path: string, current: Buffer | null, after: Buffer | null, before: Buffer | null): Buffer | null | undefined {
  if (sameBytes(current, after)) return before;
  // Removed by hand, or undone already.
  if (current === null || sameBytes(current, before)) return before === null ? null : current;
  // Next.js writes its types again at each build and each start, with other contents in development.
  if (/[\\/]next-env\.d\.ts$/.test(path)) return before;
  // In a list of lines that `init` created, lines that the person added stay; without any, the file is removed.
  const isList = /(?:^|[\\/])\.(?:env|gitignore)$/.test(path);
  if (after === null || (before === null && !isList)) return undefined;
  const patch = structuredPatch('', '', after.toString(), before?.toString() ?? '', '', '', { context: isList ? 0 : 1 });
  const patched = applyPatch(current.toString(), patch, { autoConvertLineEndings: false });
  if (patched === false) return undefined;
  return before === null && patched === '' ? null : Buffer.from(patched);
}

/** Makes the installed packages those of the restored manifest. */
async function removePackages(context: Context, root: string, { runs }: InitHistory, changed: readonly Undone[]): Promise<void> {
  for (const path of runs.flatMap(({ packageDirectories }) => packageDirectories)) rmSync(path, { recursive: true, force: true });
  const install = runs.findLast((run) => run.install)?.install as CommandLine | undefined;
  if (!install || !runs.some((run) => run.install && run.packageDirectories.length === 0)) return;
  context.terminal.progress(`Running ${install.join(' ')} …`);
  const { env, signal, terminal } = context;
  const onOutput = (text: string) => terminal.detail(text.trimEnd());
  const ended = await runProgram(install, { cwd: root, env, signal, timeoutMs: INSTALL_MS, onOutput });
  terminal.progress('');
  if (!ended.ok && !signal.aborted)
    terminal.note(`\`${install.join(' ')}\` failed, so packages may be left: ${lastLines(ended.output, 3)}`);
  // It may write another lock file than the one before.
  for (const { path, after, mode } of changed) restoreFile(path, after, mode);
  if (signal.aborted) {
    const message = 'Cancelled; the files are restored, but packages may be left.';
    throw new CommandError(EXIT.cancelled, 'cancelled', message, 'Run the same command again to remove them.');
  }
}

/** Returns the history of the files that were kept. */
function onlyKept(history: InitHistory, undone: readonly Undone[]): InitHistory {
  const kept = new Set(undone.filter(({ isKept }) => isKept).map(({ path }) => path));
  const runs = history.runs
    .map((run) => ({ ...run, install: null, packageDirectories: [], files: run.files.filter(({ path }) => kept.has(path)) }))
    .filter(({ files }) => files.length > 0);
  return { ...history, runs };
}

const LONG_FILE_BYTES = 32 * 1024;

/** Returns a patch, without the values of `.env` and the length of a lock file. */
function summarize(path: string, before: Buffer | null, after: Buffer | null, terminal: Context['terminal']): string {
  if (before && after && before.length < LONG_FILE_BYTES && !/(?:^|\/)\.env$|lock/.test(path))
    return patchOf({ path, before, after }, terminal);
  return after ? `restores ${path}` : `removes ${path}`;
}

const fromBase64 = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'));
const sameBytes = (one: Buffer | null, other: Buffer | null) => (one === null || other === null ? one === other : one.equals(other));
