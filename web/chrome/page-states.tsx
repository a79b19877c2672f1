import type { QueryClient } from '@tanstack/react-query';
import { Component, type ReactNode, Suspense } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../contract/client.ts';
import { errorText } from '../lib/api.ts';
import { useUser } from '../lib/session.ts';
import { storeReturnPath } from '../lib/storage.ts';
import { createStore, useStore } from '../lib/store.ts';
import { paths } from '../pages.ts';
import { Button, ButtonLink, Spinner } from '../ui/button.tsx';
import { PageHeading } from '../ui/page-heading.tsx';
import { Alert, Loading } from '../ui/states.tsx';

/** Renders a lazy page, or an error when it could not be loaded or rendered. */
export class PageBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };
  private unsubscribe: (() => void) | undefined;

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidCatch() {
    // A browser may cache that a module could not be loaded: only a page load fetches it again.
    this.unsubscribe ??= onConnectionBack(() => location.reload());
  }

  override componentWillUnmount() {
    this.unsubscribe?.();
  }

  override render() {
    if (!this.state.failed) return <Suspense fallback={<Loading />}>{this.props.children}</Suspense>;
    return (
      <div className="mx-auto grid max-w-md justify-items-center gap-4 py-24 text-center">
        <PageHeading title="This page could not be loaded" />
        <p role="alert" className="text-muted">
          Check your connection and try again.
        </p>
        <Button variant="secondary" onClick={() => location.reload()}>
          Try again
        </Button>
      </div>
    );
  }
}

/** Renders its children for a signed-in developer, else a link to the sign-in. */
export function SignedInOnly({ children }: { children: ReactNode }) {
  const { data: user, error, isPending, isFetching, refetch } = useUser();
  if (user) return children;
  if (isPending) return <Loading />;
  if (error) {
    return (
      <div className="mx-auto grid max-w-md gap-4 py-16">
        <PageHeading title="Your account could not be loaded" />
        <Alert>{errorText(error, 'The service did not answer.')}</Alert>
        <Button variant="secondary" busy={isFetching} onClick={() => refetch()}>
          Try again
        </Button>
      </div>
    );
  }
  return <NotLoggedIn />;
}

/** The sign-in of this page leads back to where the person was. */
function NotLoggedIn() {
  const hasPage = location.pathname !== paths.developer;
  return (
    <div className="mx-auto max-w-md py-16 text-center">
      <PageHeading title="Not Logged In" />
      <p className="mt-2 text-muted">
        The developer portal is for those who are signed in.{hasPage && ' After the sign-in, you come back to this page.'}
      </p>
      <div className="mt-6 flex flex-wrap justify-center gap-2">
        <ButtonLink href={paths.signIn} onClick={() => hasPage && storeReturnPath(location.pathname + location.search + location.hash)}>
          Sign in
        </ButtonLink>
        <ButtonLink as={Link} variant="secondary" href={paths.landing}>
          Go to Homepage
        </ButtonLink>
      </div>
    </div>
  );
}

/** `offline`: the browser has no network; `unavailable`: the service does not respond, or responds 503. */
type Connection = 'good' | 'offline' | 'unavailable';

/** Between two checks whether the service is back. */
const CHECK_INTERVAL_MS = 3_000;

const connection = createStore<Connection>('good');
let timer: ReturnType<typeof setTimeout> | undefined;

/** Calls `onBack` each time the service is available again after an interruption. Returns the function that ends it. */
function onConnectionBack(onBack: () => void): () => void {
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
    queries.refetchQueries({ predicate: ({ queryKey, state }) => state.status === 'error' || queryKey[0] === 'session' });
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
