import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { ApiError } from '../../../contract/client.ts';
import { wordsOf } from '../../lib/failure.ts';
import { useTokenLogin, useUser } from '../../lib/session.ts';
import { toastFailure } from '../../lib/toast.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Loading } from '../../ui/loading.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';

/**
 * Signs in with the token in the address, once, and then takes it out of the address. Where the service asks for it, the
 * person confirms first: the link may be somebody else's, or another user is signed in.
 */
export function TokenLogin({ children }: { children: ReactNode }) {
  const [token] = useState(useSearchParams()[0].get('token'));
  const [, navigate] = useLocation();
  const { data: user } = useUser();
  const login = useTokenLogin();
  const [step, setStep] = useState<'trying' | 'asking' | 'done'>(token ? 'trying' : 'done');
  const begun = useRef(false);

  const enter = async (confirm?: true) => {
    try {
      await login.mutateAsync({ token: token ?? '', confirm });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'confirmation_needed') return setStep('asking');
      const refused = error instanceof ApiError && error.status < 500 && error.status !== 0 && error.status !== 429;
      const text = 'The authentication token is invalid or expired. Please try logging in again.';
      toastFailure('Authentication Failed', refused ? text : wordsOf(error, text));
    }
    leave();
  };

  const leave = () => {
    navigate(paths.developer, { replace: true });
    setStep('done');
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page is opened
  useEffect(() => {
    if (begun.current || step !== 'trying') return;
    begun.current = true;
    enter();
  }, []);

  if (step === 'done') return children;
  if (step === 'trying') return <Loading />;
  return (
    <div className="rise mx-auto my-4 max-w-md rounded-panel border border-line bg-panel p-5 shadow-raised sm:my-10 sm:p-8">
      <PageHeading title="Confirm Sign In" />
      <p className="mt-2 text-muted [overflow-wrap:anywhere]">
        {user
          ? `You are signed in as ${user.email}. The link that you opened signs you in anew, perhaps as somebody else.`
          : 'The link that you opened signs you in to the developer portal, but this browser did not ask for it.'}
      </p>
      <p className="mt-2 text-muted">Continue only if you asked for this email yourself.</p>
      <Button className="mt-6 w-full" busy={login.isPending} onClick={() => enter(true)}>
        Continue to Developer Portal
      </Button>
      <Button look="quiet" className="mt-2 w-full" onClick={leave}>
        Cancel
      </Button>
    </div>
  );
}
