import { Component, type ReactNode, Suspense } from 'react';
import { Link, useLocation } from 'wouter';
import { errorText } from '../lib/api.ts';
import { useUser } from '../lib/session.ts';
import { storeWayBack } from '../lib/storage.ts';
import { paths } from '../paths.ts';
import { Button, ButtonLink } from '../ui/button.tsx';
import { PageHeading } from '../ui/page-heading.tsx';
import { Alert, Loading } from '../ui/states.tsx';
import { onConnectionBack } from './connection.tsx';

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
        <ButtonLink href={paths.signIn} onClick={() => hasPage && storeWayBack(location.pathname + location.search + location.hash)}>
          Sign in
        </ButtonLink>
        <ButtonLink as={Link} variant="secondary" href={paths.landing}>
          Go to Homepage
        </ButtonLink>
      </div>
    </div>
  );
}

/** The page of an unknown path. */
export function NotFoundPage() {
  const [path] = useLocation();
  return (
    <div className="mx-auto max-w-md py-24 text-center">
      <PageHeading title="404 Page Not Found" />
      <p className="mt-2 text-muted">Did you forget to add the page to the router?</p>
      <p className="mt-6 font-mono text-[0.8125rem] text-muted wrap-anywhere">{path}</p>
      <div className="mt-6 flex flex-wrap justify-center gap-2">
        <ButtonLink as={Link} href={paths.landing}>
          Go to Homepage
        </ButtonLink>
        <ButtonLink as={Link} variant="secondary" href={paths.guide}>
          Documentation
        </ButtonLink>
      </div>
    </div>
  );
}
