/** Exit codes of `emailauth`; a program that calls it may rely on them. */
export const EXIT = { ok: 0, failure: 1, cancelled: 2, usage: 3 } as const;

/**
 * What an error means at the end: a sentence on stderr and the exit code. An error that carries an `exitCode` was written
 * for the person at the terminal; anything else is a fault of ours and shows where it came from.
 */
export function describeExit(error: unknown): { sentence: string; code: number } {
  if (error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number') {
    return { sentence: error.message, code: error.exitCode };
  }
  return { sentence: error instanceof Error ? (error.stack ?? error.message) : String(error), code: EXIT.failure };
}
