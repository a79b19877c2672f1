import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { ApiError } from '../../../contract/client.ts';
import { LOCALHOST } from '../../../contract/urls.ts';
import { errorText } from '../../lib/api.ts';
import { useCall } from '../../lib/calls.ts';
import { useTokenLogin, useUser } from '../../lib/session.ts';
import { isFirstHome, markHomeOpened, readReturnPath } from '../../lib/storage.ts';
import { listStateOf, websitesQuery } from '../../lib/url-state.ts';
import { HOME_WEBSITES, paths, websitePath } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { ArrowIcon, MailIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Badge, Loading } from '../../ui/states.tsx';
import { toastFailure } from '../../ui/toast.tsx';

/**
 * /developer: the home page of the portal, where every sign-in ends. It leads to the page that the sign-in was for. After a sign-in
 * without one, it leads to the account's only website or to the table of several, unless an invitation is to be answered.
 */
export function DeveloperPage({ websites }: { websites: ReactNode }) {
  const [, navigate] = useLocation();
  // Only read: React may start a render again, and then initializes the state again.
  const [arrival] = useState(() => ({ page: readReturnPath(), isFirst: isFirstHome() }));
  const asks = arrival.page === null && arrival.isFirst;
  const first = useQuery({ ...websitesQuery(listStateOf(new URLSearchParams()), HOME_WEBSITES), enabled: asks });
  const invitations = useCall('listInvitations', {}, { enabled: asks });
  const isKnown = !asks || first.isError || invitations.isError || Boolean(first.data && invitations.data);
  const page = arrival.page ?? (asks && invitations.data?.length === 0 ? pageOf(first.data) : null);
  useEffect(() => {
    if (!isKnown) return;
    markHomeOpened();
    if (page) navigate(page, { replace: true });
  }, [isKnown, page, navigate]);
  if (!isKnown || page) return <Loading />;
  return (
    <>
      <PageHeading title="Developer Portal" />
      <p className="mt-1.5 text-muted">Your services.</p>
      <Link
        href={paths.websites}
        className="group mt-8 flex items-center gap-4 rounded-panel border border-line bg-panel p-5 transition-colors hover:border-edge sm:max-w-xl"
      >
        <span className="grid size-11 shrink-0 place-items-center rounded-control border border-line bg-sunk">
          <MailIcon className="size-5" />
        </span>
        <span className="min-w-0 grow">
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <span className="font-medium">Email Authentication Service</span>
            <Badge tone="live">Active</Badge>
          </span>
          <span className="mt-0.5 block text-sm text-muted">Your websites, their sign-in page and the proof of their domains.</span>
        </span>
        <ArrowIcon className="size-4 text-muted transition-transform group-hover:translate-x-0.5" />
      </Link>
      {websites}
    </>
  );
}

/** Returns the page of the only website, the table of several, or null. The website `localhost` of local mode is not counted. */
function pageOf(found: Output<'searchWebsites'> | undefined): string | null {
  if (!found || found.total > HOME_WEBSITES) return found ? paths.websites : null;
  const [first, second] = found.websites.filter(({ domain }) => domain !== LOCALHOST);
  return second ? paths.websites : first ? websitePath(first.domain) : null;
}

/**
 * Signs in with the token in the address, once, and removes it from the address. When the service requires it, the person
 * confirms first: the link may belong to someone else, or another developer is signed in.
 */
export function TokenLogin({ children }: { children: ReactNode }) {
  const [token] = useState(useSearchParams()[0].get('token'));
  const [, navigate] = useLocation();
  const { data: user } = useUser();
  const login = useTokenLogin();
  const [step, setStep] = useState<'trying' | 'confirming' | 'done'>(token ? 'trying' : 'done');
  const started = useRef(false);

  const enter = async (confirm?: true) => {
    try {
      await login.mutateAsync({ token: token ?? '', confirm });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'confirmation_needed') return setStep('confirming');
      const refused = error instanceof ApiError && error.status < 500 && error.status !== 0 && error.status !== 429;
      const text = 'The authentication token is invalid or expired. Please try logging in again.';
      toastFailure('Authentication Failed', refused ? text : errorText(error, text));
    }
    leave();
  };

  const leave = () => {
    navigate(paths.developer, { replace: true });
    setStep('done');
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the page is opened
  useEffect(() => {
    if (started.current || step !== 'trying') return;
    started.current = true;
    enter();
  }, []);

  if (step === 'done') return children;
  if (step === 'trying') return <Loading />;
  return (
    <div className="rise mx-auto my-4 max-w-md rounded-panel border border-line bg-panel p-5 shadow-raised sm:my-10 sm:p-8">
      <PageHeading title="Confirm Sign In" />
      <p className="mt-2 text-muted wrap-anywhere">
        {user
          ? `You are signed in as ${user.email}. The link that you opened signs you in again, perhaps as someone else.`
          : 'The link that you opened signs you in to the developer portal, but this browser did not request it.'}
      </p>
      <p className="mt-2 text-muted">Continue only if you requested this email yourself.</p>
      <Button className="mt-6 w-full" busy={login.isPending} onClick={() => enter(true)}>
        Continue to Developer Portal
      </Button>
      <Button variant="quiet" className="mt-2 w-full" onClick={leave}>
        Cancel
      </Button>
    </div>
  );
}
