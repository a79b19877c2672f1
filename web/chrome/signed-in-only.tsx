import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { wordsOf } from '../lib/failure.ts';
import { useUser } from '../lib/session.ts';
import { paths } from '../paths.ts';
import { Alert } from '../ui/alert.tsx';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Loading } from '../ui/loading.tsx';
import { PageHeading } from '../ui/page-heading.tsx';

/** Shows its children to somebody who is signed in, and to everybody else how to get there. */
export function SignedInOnly({ children }: { children: ReactNode }) {
  const { data: user, error, isPending, isFetching, refetch } = useUser();
  if (user) return children;
  if (isPending) return <Loading />;
  if (error) {
    return (
      <div className="mx-auto grid max-w-md gap-4 py-16">
        <PageHeading title="Your account could not be loaded" />
        <Alert>{wordsOf(error, 'The service did not answer.')}</Alert>
        <Button look="secondary" busy={isFetching} onClick={() => refetch()}>
          Try again
        </Button>
      </div>
    );
  }
  return (
    <div className="mx-auto max-w-md py-16 text-center">
      <PageHeading title="Not Logged In" />
      <p className="mt-2 text-muted">The developer portal is for those who are signed in.</p>
      <div className="mt-6 flex flex-wrap justify-center gap-2">
        <ButtonLink href={paths.signIn}>Sign in</ButtonLink>
        <ButtonLink as={Link} look="secondary" href={paths.landing}>
          Go to Homepage
        </ButtonLink>
      </div>
    </div>
  );
}
