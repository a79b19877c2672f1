import type { QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiError } from '../../contract/client.ts';

/** What the portal knows of the way to the service: `offline`: the browser has no network; `unavailable`: the service does not answer, or says 503. */
export type Connection = 'good' | 'offline' | 'unavailable';

/** Between two looks whether the service is back. */
const LOOK_MS = 3_000;

let shown: Connection = 'good';
let timer: ReturnType<typeof setTimeout> | undefined;
const watchers = new Set<() => void>();

export const useConnection = () => useSyncExternalStore(watch, () => shown);

/** Calls `onBack` each time the service can be used again after it could not. @returns an end to that */
export function onConnectionBack(onBack: () => void): () => void {
  let before = shown;
  return watch(() => {
    if (shown === 'good' && before !== 'good') onBack();
    before = shown;
  });
}

/**
 * Learns from what the queries and mutations of `queries` meet. Once the service is back, whatever could not be loaded is
 * loaded again; what somebody typed meanwhile is the pages' own and stays.
 */
export function watchConnection(queries: QueryClient) {
  const learn = ({ type, action }: { type: string; action?: { type: string; error?: unknown } }) => {
    if (type === 'updated' && action?.type === 'error' && isTrouble(action.error)) lost();
  };
  queries.getQueryCache().subscribe(learn as never);
  queries.getMutationCache().subscribe(learn as never);
  onConnectionBack(() => {
    // While the service could not say who is signed in, a hint stood in for it.
    queries.refetchQueries({ predicate: ({ queryKey, state }) => state.status === 'error' || queryKey[0] === 'me' });
  });
  addEventListener('offline', lost);
  addEventListener('online', look);
  document.addEventListener('visibilitychange', () => shown !== 'good' && look());
  if (!navigator.onLine) lost();
}

const isTrouble = (error: unknown) => error instanceof ApiError && (error.status === 0 || error.status === 503);

function lost() {
  show(navigator.onLine ? 'unavailable' : 'offline');
  clearTimeout(timer);
  timer = setTimeout(look, LOOK_MS);
}

async function look() {
  clearTimeout(timer);
  if (shown === 'good' || document.hidden) return;
  const ready = await fetch('/readyz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (ready) show('good');
  else lost();
}

function show(next: Connection) {
  if (next === shown) return;
  shown = next;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void) {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
}
