import { useCallback, useEffect, useRef, useState } from 'react';
import { describeFailure } from '../exit.ts';
import type { LoginStats } from '../stats.ts';
import { sanitize } from './words.ts';

/** Requests the statistics. @param options.reopen opens a session that has ended again, as the person asked for */
export type Load = (options: { reopen: boolean; signal: AbortSignal }) => Promise<LoginStats>;

export const AUTO_REFRESH_MS = 60_000;

/** The last statistics, which stay while newer ones load or fail. `error` has several wordings, longest first; empty: no error. */
export type LoadState = { stats: LoginStats | null; at: Date | null; isLoading: boolean; error: readonly string[] };

/** Loads the statistics immediately, when `refresh` is called, and every minute with `isAuto`. */
export function useStats(load: Load, isAuto: boolean): LoadState & { refresh: (reopen: boolean) => void } {
  const [state, setState] = useState<LoadState>({ stats: null, at: null, isLoading: true, error: [] });
  const running = useRef<AbortController | null>(null);

  const start = useCallback(
    async (reopen: boolean) => {
      if (running.current) return;
      const stop = new AbortController();
      running.current = stop;
      setState((before) => ({ ...before, isLoading: true }));
      try {
        const stats = await load({ reopen, signal: stop.signal });
        if (!stop.signal.aborted) setState({ stats, at: new Date(), isLoading: false, error: [] });
      } catch (error) {
        if (!stop.signal.aborted) setState((before) => ({ ...before, isLoading: false, error: describeError(error) }));
      } finally {
        running.current = null;
      }
    },
    [load],
  );

  useEffect(() => {
    start(false);
    return () => running.current?.abort();
  }, [start]);

  useEffect(() => {
    if (!isAuto) return;
    const timer = setInterval(() => start(false), AUTO_REFRESH_MS);
    return () => clearInterval(timer);
  }, [isAuto, start]);

  return { ...state, refresh: start };
}

/** Returns what happened with what to do next, and without it. */
function describeError(error: unknown): string[] {
  const { code, message, hint } = describeFailure(error);
  const next = ['admin_session_ended', 'bad_password', 'rate_limited'].includes(code) ? hint : 'Press r to try again.';
  // The host is shown above the statistics.
  const what = code === 'unreachable' ? 'The service cannot be reached.' : sanitize(message.split('\n')[0]);
  return [`${what} ${next}`, what];
}
