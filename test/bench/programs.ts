import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');

/** A child process of the bench. */
export type Program = { pid: number; child: ChildProcess; output(): string; stop(signal?: NodeJS.Signals): Promise<void> };

const running = new Set<ChildProcess>();

/** Kills all running programs. */
export function killPrograms(): void {
  for (const child of running) child.kill('SIGKILL');
}

/**
 * Compiles programs of the bench to JavaScript, so that the floor starts on Node.js alone like the built service. The output is
 * below node_modules, where imports of packages resolve.
 */
export async function buildPrograms(names: readonly string[]): Promise<{ path(name: string): string; remove(): Promise<void> }> {
  const folder = join(root, 'node_modules/.cache', `emailauth-bench-${process.pid}`);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const name of names) {
    const source = await readFile(join(import.meta.dirname, `${name}.ts`), 'utf8');
    const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 };
    await writeFile(join(folder, `${name}.js`), ts.transpileModule(source, { compilerOptions }).outputText);
  }
  return { path: (name) => join(folder, `${name}.js`), remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts a program with only the given environment. */
export function startProgram(path: string, args: string[], env: Record<string, string>): Program {
  const options: ForkOptions = { env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env }, execArgv: [], silent: true };
  const child = fork(path, args, options);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output = (output + chunk).slice(-4000);
    });
  running.add(child);
  const exited = once(child, 'exit').then(() => void running.delete(child));
  return {
    pid: child.pid as number,
    child,
    output: () => output,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await exited;
    },
  };
}

/** Returns the next message of a program. @throws Error when it exits without one */
export async function messageOf<Message>(program: Program): Promise<Message> {
  const over = new AbortController();
  try {
    const ended = once(program.child, 'exit', over).then(() => {
      throw new Error(`A program of the bench exited early:\n${program.output()}`);
    });
    const [message] = await Promise.race([once(program.child, 'message', over), ended]);
    return message;
  } finally {
    over.abort();
  }
}

/** proc(5): user and system time are the 14th and 15th field, those of ended children the next two, in ticks of 1/100 s. */
export async function cpuSeconds(pid: number): Promise<number> {
  const fields = await statOf(pid);
  return fields.slice(11, 13).reduce((sum, field) => sum + Number(field) / 100, 0);
}

/** Returns the CPU time of a process and its children, including children that have exited. */
export async function cpuSecondsOfTree(pid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((child) => statOf(Number(child)).catch(() => [])));
  const own = await statOf(pid);
  const children = stats.filter((fields) => fields[1] === String(pid));
  return [...own.slice(11, 15), ...children.flatMap((fields) => fields.slice(11, 13))].reduce((sum, field) => sum + Number(field) / 100, 0);
}

/** Returns the resident memory in MB. */
export const memoryOf = (pid: number): Promise<number> => statusOf(pid, 'VmRSS');

/** Returns the greatest resident memory that a process has had, in MB. */
export const peakMemoryOf = (pid: number): Promise<number> => statusOf(pid, 'VmHWM');

/** Returns a size of proc_pid_status(5) in MB. */
async function statusOf(pid: number, field: string): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const line = status.split('\n').find((each) => each.startsWith(`${field}:`)) ?? '';
  return Number.parseInt(line.slice(field.length + 1), 10) / 1024;
}

/** Returns the fields of /proc/PID/stat from the third on; the second is in parentheses and may contain any character. */
async function statOf(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
