import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from '../../support/waiting.ts';

/** A command that runs. */
export type RunningCommand = {
  /** Everything it wrote to stdout and stderr. */
  output(): string;
  /** Waits until its output has a match. */
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with its exit code. */
  ended: Promise<number | null>;
  stop(): Promise<void>;
};

export function runCommand([program, ...args]: string[], env: Record<string, string | undefined>, cwd?: string): RunningCommand {
  const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    output: () => output,
    async shows(pattern) {
      let match: RegExpExecArray | null = null;
      await waitUntil(`${program} shows ${pattern}`, 60_000, () => {
        match = pattern.exec(output);
        return match !== null || output;
      });
      return match as unknown as RegExpExecArray;
    },
    ended,
    async stop() {
      child.kill();
      await ended;
    },
  };
}
