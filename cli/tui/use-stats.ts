import { useCallback, useEffect, useRef, useState } from 'react';
import { describeFailure } from '../exit.ts';
import type { Figures } from '../stats.ts';
import { harmless } from './words.ts';

/** Asks the service. @param options.reopen a session that has ended is opened again: somebody pressed the key for that */
export type Load = (options: { reopen: boolean; signal: AbortSignal }) => Promise<Figures>;

export const AUTO_REFRESH_MS = 60_000;

/** The figures of the last answer, which stay while a newer one is awaited or fails. `error` is one, longer wordings first; empty: none. */
export type Loaded = { figures: Figures | null; at: Date | null; isLoading: boolean; error: readonly string[] };

/** Loads the figures at once, when asked, and every minute where that is wanted. */
export function useStats(load: Load, isAuto: boolean): Loaded & { refresh: (reopen: boolean) => void } {
  const [loaded, setLoaded] = useState<Loaded>({ figures: null, at: null, isLoading: true, error: [] });
  const running = useRef<AbortController | null>(null);

  const start = useCallback(
    async (reopen: boolean) => {
      if (running.current) return;
      const stop = new AbortController();
      running.current = stop;
      setLoaded((before) => ({ ...before, isLoading: true }));
      try {
        const figures = await load({ reopen, signal: stop.signal });
        if (!stop.signal.aborted) setLoaded({ figures, at: new Date(), isLoading: false, error: [] });
      } catch (error) {
        if (!stop.signal.aborted) setLoaded((before) => ({ ...before, isLoading: false, error: wordsFor(error) }));
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

  return { ...loaded, refresh: start };
}

/** What happened and what to do next, and what happened. */
function wordsFor(error: unknown): string[] {
  const { code, message, hint } = describeFailure(error);
  const next = ['admin_session_ended', 'bad_password', 'rate_limited'].includes(code) ? hint : 'Press r to try again.';
  // The host stands above the figures.
  const what = code === 'unreachable' ? 'The service cannot be reached.' : harmless(message.split('\n')[0]);
  return [`${what} ${next}`, what];
}
