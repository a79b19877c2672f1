import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { program } from '../support/program.ts';

/** A command to run. */
export type CommandInput = { id: number; args: string[]; input?: string; env: Record<string, string>; cwd: string };

/** What a command returned and wrote. */
type Output = { exitCode: number | undefined; stdout: string; stderr: string };

/** A process in which commands run that trust an authority. */
export type Trusting = {
  run(input: Omit<CommandInput, 'id'>): Promise<Output>;
  close(): Promise<void>;
};

/** In a run of mutations, with the loader that replaces the text. */
const LOADER = program.length > 1 ? program.slice(0, -1) : ['--import=tsx'];

/**
 * Starts a process for all commands that trust an authority, since Node.js reads NODE_EXTRA_CA_CERTS only as it starts.
 * @param file the certificate of the authority
 */
export function openTrusting(file: string): Trusting {
  const child = fork(join(import.meta.dirname, 'trusting-process.ts'), {
    execArgv: [...LOADER],
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: file },
  });
  const exited = once(child, 'exit');
  const waiting = new Map<number, (output: Output) => void>();
  child.on('message', ({ id, ...output }: Output & { id: number }) => {
    waiting.get(id)?.(output);
    waiting.delete(id);
  });
  let last = 0;
  return {
    run(input) {
      const id = ++last;
      const output = new Promise<Output>((resolve) => waiting.set(id, resolve));
      child.send({ id, ...input });
      const ended = exited.then(() => {
        throw new Error(`The process of the commands ended before ${input.args.join(' ')}.`);
      });
      return Promise.race([output, ended]);
    },
    async close() {
      child.kill();
      await exited;
    },
  };
}
