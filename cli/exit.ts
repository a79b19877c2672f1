import type { ApiError } from '../contract/client.ts';

/** Exit codes of `emailauth`, which scripts may rely on. */
export const EXIT = {
  ok: 0,
  failure: 1,
  cancelled: 2,
  usage: 3,
  signInNeeded: 4,
  notFound: 5,
  conflict: 6,
  rateLimited: 7,
  unreachable: 8,
  /** A check was made, and its result is negative. */
  negative: 10,
} as const;

export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  0: 'done',
  1: 'it failed',
  2: 'cancelled: by Ctrl-C, by SIGTERM, or at a prompt',
  3: 'usage or validation: something is missing or not valid',
  4: 'a sign-in is needed, has ended, or is too old for this',
  5: 'not found',
  6: 'conflict with something that exists',
  7: 'rate-limited: try again later',
  8: 'the service cannot be reached',
  10: 'a check was made, and its result is negative',
};

type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** An error that ends a command, with a message for the person and for the program that reads `--json`. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly exitCode: ExitCode;
  /** In snake case; stable. */
  readonly code: string;
  /** What to do next, as a sentence; may be empty. */
  readonly hint: string;

  constructor(exitCode: ExitCode, code: string, message: string, hint = '', cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
    this.code = code;
    this.hint = hint;
  }
}

/** Input that is missing or not valid. */
export const usageError = (message: string, hint = '') => new CommandError(EXIT.usage, 'usage', message, hint);

/** The person declined, or pressed Ctrl-C. */
export const cancelled = () => new CommandError(EXIT.cancelled, 'cancelled', 'Cancelled; nothing was changed.');

/** Throws `cancelled` where the person has pressed Ctrl-C; any other error is thrown unchanged. @param signal of the command */
export function throwCancelled(error: unknown, signal: AbortSignal): never {
  throw signal.aborted ? cancelled() : error;
}

type Failure = { exitCode: number; code: string; message: string; hint: string };

/**
 * Returns the exit code and the texts for an error. An error with an `exitCode` has a message for the person; any other one is
 * an internal error, whose stack command-line.ts prints with --verbose.
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof CommandError) return error;
  if (error instanceof Error && 'exitCode' in error && typeof error.exitCode === 'number') {
    const { code, hint } = error as { code?: unknown; hint?: unknown };
    return {
      exitCode: error.exitCode,
      code: typeof code === 'string' ? code : 'failure',
      message: error.message,
      hint: typeof hint === 'string' ? hint : '',
    };
  }
  // By name: importing the class would load the API for `--help` as well.
  if (error instanceof Error && error.name === 'ApiError') return describeApiError(error as ApiError);
  return {
    exitCode: EXIT.failure,
    code: 'fault',
    message: `Internal error of emailauth: ${error instanceof Error ? error.message : String(error)}`,
    hint: 'Run it again with --verbose, and report what it prints to the maintainers of emailauth.',
  };
}

function describeApiError({ status, code, message, hint, retryAfter }: ApiError): Failure {
  const wait = retryAfter ? `Try again in ${formatDuration(retryAfter)}.` : '';
  const fallback = status >= 500 ? 'Try again; if the problem persists, contact the operator of the service.' : '';
  return { exitCode: exitCodeOf(status, code), code, message, hint: wait || hint || fallback };
}

/** The codes of errors after which another sign-in helps, besides those with status 401. */
const NEEDS_SIGN_IN: ReadonlySet<string> = new Set(['person_needed', 'proof_needed', 'test_key', 'insufficient_scope']);

function exitCodeOf(status: number, code: string): ExitCode {
  if (status === 401 || NEEDS_SIGN_IN.has(code)) return EXIT.signInNeeded;
  if (status === 404) return EXIT.notFound;
  if (status === 409) return EXIT.conflict;
  if (status === 429) return EXIT.rateLimited;
  if (status === 0 || status === 502 || status === 503 || status === 504) return EXIT.unreachable;
  return [400, 413, 415, 422].includes(status) ? EXIT.usage : EXIT.failure;
}

function formatDuration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? '1 second' : `${Math.ceil(seconds)} seconds`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} minutes` : `${Math.ceil(minutes / 60)} hours`;
}
