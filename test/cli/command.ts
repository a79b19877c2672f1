import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** The built command. */
export const entry = join(import.meta.dirname, '../../dist/cli/main.js');

/** Somebody's machine: a home directory with nothing in it, and the environment of a shell there. */
export type Home = {
  directory: string;
  env: Record<string, string>;
  /** Runs `emailauth` as a script does: nobody to ask, output to pipes. */
  run(args: string[], options?: RunOptions): Promise<Ran>;
  close(): Promise<void>;
};

export type RunOptions = {
  /** What stdin holds; none: it is closed. */
  input?: string;
  /** In place of variables of the home's. */
  env?: Record<string, string>;
  cwd?: string;
  /** Aborts it as Ctrl-C does. */
  signal?: AbortSignal;
};

export type Ran = {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
  /** stdout as JSON. @throws when it is none */
  // biome-ignore lint/suspicious/noExplicitAny: the tests look at what comes, whatever its shape.
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
      const { exitCode, stdout, stderr } = await execa(process.execPath, [entry, ...args], {
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
