/** What a check found. `ok` is null when the check could not decide or does not apply; `detail` then gives the reason. */
export type Finding = {
  ok: boolean | null;
  /** What was found, as a sentence. */
  detail: string;
  /** What to do, as sentences; advice when the check passed. Empty: nothing. */
  fix: string;
};

/** The result of one check. */
export type CheckResult = Finding & {
  /** Stable, in snake case. */
  id: string;
  /** For people. */
  name: string;
};

export const pass = (detail: string, fix = ''): Finding => ({ ok: true, detail, fix });
export const fail = (detail: string, fix: string): Finding => ({ ok: false, detail, fix });
export const skip = (detail: string, fix = ''): Finding => ({ ok: null, detail, fix });

const CHECK_TIMEOUT_MS = 10_000;

/** What ends a check early: `signal` cancels it (Ctrl-C, a client that disconnected), `deadline` is its time limit. */
export type Cancellation = { signal: AbortSignal; deadline?: AbortSignal; timeoutMs?: number };

/**
 * Runs one check and returns its result within 10 s or `timeoutMs`, or by the deadline. Rejects only when `signal` cancels it.
 * @param parts.timedOut the finding when time is up
 * @param check receives a signal that aborts when its result is no longer needed
 */
export async function runCheck(
  parts: { id: string; name: string; timedOut?: Finding } & Cancellation,
  check: (signal: AbortSignal) => Promise<Finding>,
): Promise<CheckResult> {
  const { id, name, signal, deadline, timeoutMs = CHECK_TIMEOUT_MS } = parts;
  const timedOut = parts.timedOut ?? skip(`It took longer than ${timeoutMs / 1000} s.`, 'Try again.');
  const stop = new AbortController();
  const abort = () => stop.abort();
  const timer = setTimeout(abort, timeoutMs);
  const earlyEnd = deadline ? AbortSignal.any([signal, deadline]) : signal;
  earlyEnd.addEventListener('abort', abort);
  if (earlyEnd.aborted) abort();
  const stopped = new Promise<Finding>((resolve) => {
    if (stop.signal.aborted) resolve(timedOut);
    stop.signal.addEventListener('abort', () => resolve(timedOut));
  });
  const checked = check(stop.signal).catch((error: unknown) => {
    if (stop.signal.aborted) return timedOut;
    return skip(`This could not be checked: ${oneLine(error instanceof Error ? error.message : String(error))}.`);
  });
  try {
    return { id, name, ...(await Promise.race([checked, stopped])) };
  } finally {
    clearTimeout(timer);
    earlyEnd.removeEventListener('abort', abort);
    signal.throwIfAborted();
  }
}

/**
 * Returns text from the network in a form that is safe in a terminal and in a prompt. It is one line of at most `maxLength` characters,
 * without control characters and those that change the direction of writing.
 */
export function oneLine(text: string, maxLength = 120): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu, ' ').trim();
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1)}…` : plain;
}
