import type { QueryClient } from '@tanstack/react-query';
import { ApiError } from '../../contract/client.ts';
import { createStore, useStore } from '../lib/store.ts';
import { Spinner } from '../ui/button.tsx';

/** `offline`: the browser has no network; `unavailable`: the service does not respond, or responds 503. */
type Connection = 'good' | 'offline' | 'unavailable';

/** Between two checks whether the service is back. */
const CHECK_INTERVAL_MS = 3_000;

const connection = createStore<Connection>('good');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Calls `onBack` each time the service is available again after an interruption. Returns the function that ends it. */
export function onConnectionBack(onBack: () => void): () => void {
  let previous = connection.get();
  return connection.subscribe(() => {
    if (connection.get() === 'good' && previous !== 'good') onBack();
    previous = connection.get();
  });
}

/** Follows the connection by the errors of queries and mutations. Once it is back, failed queries are fetched again. */
export function watchConnection(queries: QueryClient) {
  const onEvent = ({ type, action }: { type: string; action?: { type: string; error?: unknown } }) => {
    if (type === 'updated' && action?.type === 'error' && isConnectionError(action.error)) reportLost();
  };
  queries.getQueryCache().subscribe(onEvent as never);
  queries.getMutationCache().subscribe(onEvent as never);
  onConnectionBack(() => {
    // While the service was unavailable, the user may come from a cookie: see useUser.
    queries.refetchQueries({ predicate: ({ queryKey, state }) => state.status === 'error' || queryKey[0] === 'me' });
  });
  addEventListener('offline', reportLost);
  addEventListener('online', checkConnection);
  document.addEventListener('visibilitychange', () => connection.get() !== 'good' && checkConnection());
  if (!navigator.onLine) reportLost();
}

const isConnectionError = (error: unknown) => error instanceof ApiError && (error.status === 0 || error.status === 503);

function reportLost() {
  connection.set(navigator.onLine ? 'unavailable' : 'offline');
  clearTimeout(timer);
  timer = setTimeout(checkConnection, CHECK_INTERVAL_MS);
}

async function checkConnection() {
  clearTimeout(timer);
  if (connection.get() === 'good' || document.hidden) return;
  const ready = await fetch('/readyz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (ready) connection.set('good');
  else reportLost();
}

const messages = {
  offline: { title: 'You are offline', text: 'This page continues when you are back online.' },
  unavailable: { title: 'The service does not answer', text: 'Trying again every few seconds. What you typed is kept.' },
};

/** Covers a corner of the page while the service is not available. Its live region is always in the page, so that it is announced. */
export function ConnectionBanner() {
  const state = useStore(connection);
  const message = state === 'good' ? null : messages[state];
  return (
    <div role="status" className="pointer-events-none fixed inset-x-4 bottom-4 z-40 sm:right-auto sm:w-96">
      {message && (
        <div className="rise flex items-start gap-3 rounded-panel border border-edge bg-panel px-4 py-3 text-sm shadow-raised">
          <span className="grid h-5 w-4 shrink-0 place-items-center text-muted">
            {state === 'offline' ? <span className="size-2 rounded-full bg-edge" /> : <Spinner />}
          </span>
          <p>
            <span className="font-medium">{message.title}</span>
            <span className="mt-0.5 block text-muted">{message.text}</span>
          </p>
        </div>
      )}
    </div>
  );
}
