import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { execa } from 'execa';
import { run } from '../../cli/command-line.ts';
import { program } from '../support/program.ts';

/** An empty home directory and the environment of a shell there. */
export type Home = {
  directory: string;
  env: Record<string, string>;
  /** Runs `emailauth` as a script does, without a terminal: within this process, unless the environment has what Node.js reads as it starts. */
  run(args: string[], options?: RunOptions): Promise<Ran>;
  /** Does the same in a process of its own: for what the process does itself, and for commands that start others. */
  spawn(args: string[], options?: RunOptions): Promise<Ran>;
  close(): Promise<void>;
};

export type RunOptions = {
  /** The content of stdin, which is closed without one. */
  input?: string;
  /** Overrides variables of the environment. */
  env?: Record<string, string>;
  cwd?: string;
  /** Aborts the command like Ctrl-C. */
  signal?: AbortSignal;
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
  return {
    directory,
    env,
    spawn,
    async run(args, options = {}) {
      const { input, env: changes, cwd = directory, signal = new AbortController().signal } = options;
      const all: typeof env = { ...env, ...changes };
      if (READ_AT_START.some((name) => all[name])) return spawn(args, options);
      const [stdout, stderr] = [new Collected(), new Collected()];
      const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)]);
      return ranOf(await run(args, { env: all, cwd, stdin, stdout, stderr, signal }), stdout.text(), stderr.text());
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

/** @param stdout without the last line end, as execa returns it */
const ranOf = (exitCode: number | undefined, stdout: string, stderr: string): Ran => ({
  exitCode,
  stdout,
  stderr,
  json: () => JSON.parse(stdout),
});

const READ_AT_START = ['NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS'];

/** Keeps what is written to it. */
class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString().replace(/\n$/, '');
  }
}
