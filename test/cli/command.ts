import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { run } from '../../cli/command-line.ts';
import { program } from '../support/program.ts';
import { openTrusting, type Trusting } from './trusting.ts';

/** An empty home directory and the environment of a shell there. */
export type Home = {
  directory: string;
  env: Record<string, string>;
  /**
   * Runs `emailauth` as a script does, without a terminal: within this process, unless the environment has what Node.js reads as it starts.
   * With one authority in NODE_EXTRA_CA_CERTS all commands run in one other process.
   */
  run(args: string[], options?: RunOptions): Promise<Ran>;
  /** Does the same within this process, and returns while the command runs. */
  start(args: string[], options?: RunOptions): Running;
  /** Does the same in a process of its own: for what the process does itself, and for commands that start others. */
  spawn(args: string[], options?: RunOptions): Promise<Ran>;
  close(): Promise<void>;
};

export type RunOptions = {
  /** The content of stdin, which is closed without one; a stream stays open as long as it does. */
  input?: string | Readable;
  /** Overrides variables of the environment. */
  env?: Record<string, string>;
  cwd?: string;
  /** Aborts the command like Ctrl-C. */
  signal?: AbortSignal;
};

/** A command that runs, without a terminal. */
export type Running = {
  /** Returns what it has written to stdout. */
  stdout(): string;
  stderr(): string;
  /** Aborts it like Ctrl-C. */
  interrupt(): void;
  ended: Promise<Ran>;
};

export type Ran = {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** Returns stdout as JSON. @throws when it is not JSON */
  // biome-ignore lint/suspicious/noExplicitAny: the tests check output of any shape.
  json(): any;
};

/** @param host the service that EMAILAUTH_HOST names */
export async function openHome(host: string): Promise<Home> {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-home-'));
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    XDG_CONFIG_HOME: join(directory, '.config'),
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    EMAILAUTH_HOST: host,
  };
  const spawn: Home['spawn'] = async (args, { input, env: changes, cwd = directory, signal } = {}) => {
    const { exitCode, stdout, stderr } = await execa(process.execPath, [...program, ...args], {
      ...(input === undefined ? { stdin: 'ignore' } : { input }),
      env: { ...env, ...changes },
      extendEnv: false,
      cwd,
      reject: false,
      cancelSignal: signal,
      killSignal: 'SIGINT',
      timeout: 100_000,
    });
    return ranOf(exitCode, stdout, stderr);
  };
  let trusting: Trusting | undefined;
  const runHere: Home['run'] = async (args, options = {}) => {
    const { cwd = directory, input } = options;
    const all: typeof env = { ...env, ...options.env };
    if (!isReadAtStart(all)) return startCommand(args, { ...options, env: all, cwd }).ended;
    if (all.NODE_OPTIONS || options.signal || input instanceof Readable) return spawn(args, options);
    trusting ??= openTrusting(all.NODE_EXTRA_CA_CERTS);
    const { exitCode, stdout, stderr } = await trusting.run({ args, input, env: all, cwd });
    return ranOf(exitCode, stdout, stderr);
  };
  return {
    directory,
    env,
    run: runHere,
    start: (args, options = {}) => startCommand(args, { cwd: directory, ...options, env: { ...env, ...options.env } }),
    spawn,
    async close() {
      await trusting?.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Runs `emailauth` within this process, with an environment of its own. */
export function startCommand(args: string[], options: RunOptions & { env: Record<string, string>; cwd: string }): Running {
  const { input, env, cwd, signal } = options;
  const stop = new AbortController();
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = input instanceof Readable ? input : Readable.from(input === undefined ? [] : [Buffer.from(input)]);
  const signals = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  return {
    stdout: () => stdout.text(),
    stderr: () => stderr.text(),
    interrupt: () => stop.abort(),
    ended: run(args, { env, cwd, stdin, stdout, stderr, signal: signals }).then((exitCode) =>
      ranOf(exitCode, stdout.text().replace(/\n$/, ''), stderr.text().replace(/\n$/, '')),
    ),
  };
}

/** @param stdout without the last line end, as execa returns it */
const ranOf = (exitCode: number | undefined, stdout: string, stderr: string): Ran => ({
  exitCode,
  stdout,
  stderr,
  json: () => JSON.parse(stdout),
});

/** Returns whether an environment has what Node.js reads as it starts. */
export const isReadAtStart = (env: Record<string, string>) => ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'].some((name) => env[name]);

/** Keeps what is written to it. */
class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}
