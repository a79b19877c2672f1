import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { program } from '../program.ts';

/** An empty home directory and the environment of a shell there. */
export type Home = {
  directory: string;
  env: Record<string, string>;
  /** Runs `emailauth` as a script does: without a terminal. */
  run(args: string[], options?: RunOptions): Promise<Ran>;
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
  return {
    directory,
    env,
    async run(args, { input, env: changes, cwd = directory, signal } = {}) {
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
      return { exitCode, stdout, stderr, json: () => JSON.parse(stdout) };
    },
    close: () => rm(directory, { recursive: true, force: true }),
  };
}
