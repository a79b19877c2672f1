/** What was looked at and found. `ok` null: it could not be told, or does not apply, and `detail` says why. */
export type Check = {
  /** Stable, in snake case. */
  id: string;
  /** For people. */
  name: string;
  ok: boolean | null;
  /** What was seen, as a sentence. */
  detail: string;
  /** What to do, as sentences; on a pass it is advice. Empty: nothing. */
  fix: string;
};

export type Verdict = Pick<Check, 'ok' | 'detail' | 'fix'>;

export const pass = (detail: string, fix = ''): Verdict => ({ ok: true, detail, fix });
export const fail = (detail: string, fix: string): Verdict => ({ ok: false, detail, fix });
export const skip = (detail: string, fix = ''): Verdict => ({ ok: null, detail, fix });

/** How long one check may take, in ms. */
const MAX_MS = 10_000;

/** When a check ends whatever it waits for: called off by `signal` (Ctrl-C, a client that left), out of time by `deadline`. */
export type Until = { signal: AbortSignal; deadline?: AbortSignal };

/**
 * Runs one check, which ends in time whatever it waits for. Never rejects, unless it was called off.
 * @param parts.deadline earlier than 10 s from now
 * @param parts.late the verdict when time is up
 * @param look gets a signal that says when nobody waits any more
 */
export async function runCheck(
  parts: { id: string; name: string; late?: Verdict } & Until,
  look: (signal: AbortSignal) => Promise<Verdict>,
): Promise<Check> {
  const { id, name, signal, deadline, late = skip(`It took longer than ${MAX_MS / 1000} s.`, 'Try again.') } = parts;
  const over = new AbortController();
  const end = () => over.abort();
  const timer = setTimeout(end, MAX_MS);
  const ends = deadline ? AbortSignal.any([signal, deadline]) : signal;
  ends.addEventListener('abort', end);
  if (ends.aborted) end();
  const ended = new Promise<Verdict>((resolve) => {
    if (over.signal.aborted) resolve(late);
    over.signal.addEventListener('abort', () => resolve(late));
  });
  const looked = look(over.signal).catch((error: unknown) => {
    if (over.signal.aborted) return late;
    return skip(`It could not be told: ${oneLine(error instanceof Error ? error.message : String(error))}.`);
  });
  try {
    return { id, name, ...(await Promise.race([looked, ended])) };
  } finally {
    clearTimeout(timer);
    ends.removeEventListener('abort', end);
    signal.throwIfAborted();
  }
}

/**
 * Text from the network as it may stand on a terminal: one line, cut, and without control characters and those that turn
 * the direction of writing.
 */
export function oneLine(text: string, most = 120): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu, ' ').trim();
  return plain.length > most ? `${plain.slice(0, most - 1)}…` : plain;
}
