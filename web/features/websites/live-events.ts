import { useEffect, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { MAX_EVENT_WAIT_SECONDS } from '../../../contract/limits.ts';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { useRefreshUser } from '../../lib/session.ts';

export type LiveEvent = Output<'websiteEvents'>['events'][number];

/** The newest events that are shown, and how far back the first ones are. */
const MAX_SHOWN = 500;
const SINCE_SECONDS = 3600;
/** Between two calls of which the first one returned at once without events, and after failures. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

type Live = {
  /** Oldest first; undefined: not loaded yet. */
  events: LiveEvent[] | undefined;
  cursor: string | undefined;
  /** The last call failed; it is tried again. */
  error: unknown;
};

/**
 * Follows the events of a website. While paused it keeps its place, so that it continues without a gap.
 * @param domain undefined: of all websites. Another one needs another key of the component
 * @param start the cursor to begin at; undefined: with the events of the last hour
 */
export function useLiveEvents(domain: string | undefined, paused: boolean, start?: string): Live {
  const [live, setLive] = useState<Live>({ events: undefined, cursor: undefined, error: null });
  const refreshUser = useRefreshUser();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the loop itself moves the cursor
  useEffect(() => {
    if (paused) return;
    const stop = new AbortController();
    void follow(domain, live.cursor ?? start, stop.signal, {
      onPage: ({ events, cursor }) =>
        setLive((before) => ({ events: [...(before.events ?? []), ...events].slice(-MAX_SHOWN), cursor, error: null })),
      onError: (error) => {
        setLive((before) => ({ ...before, error }));
        if (error instanceof ApiError && error.code === 'sign_in_needed') void refreshUser();
      },
    });
    return () => stop.abort();
  }, [domain, paused]);
  return live;
}

type Handlers = { onPage(page: Output<'websiteEvents'>): void; onError(error: unknown): void };

/** Calls `onPage` for each page of events until the signal aborts, or the caller may not see them. */
async function follow(domain: string | undefined, from: string | undefined, signal: AbortSignal, { onPage, onError }: Handlers) {
  let [after, failures, wait] = [from, 0, 0];
  while (!signal.aborted) {
    const start = Date.now();
    try {
      const page = await api.websiteEvents({ domain, after, since: SINCE_SECONDS, wait }, { signal });
      if (signal.aborted) return;
      onPage(page);
      failures = 0;
      after = page.cursor;
      const isEarly = wait > 0 && page.events.length === 0 && !page.more && Date.now() - start < MIN_PAUSE_MS;
      wait = page.more ? 0 : MAX_EVENT_WAIT_SECONDS;
      if (isEarly) await pause(MIN_PAUSE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      onError(error);
      if (error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429) return;
      await pause(Math.min(MIN_PAUSE_MS * 2 ** failures, MAX_PAUSE_MS), signal);
      failures += 1;
    }
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
