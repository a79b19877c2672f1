import { Alert } from '../../ui/alert.tsx';
import { Failed } from '../../ui/failed.tsx';
import { Loading } from '../../ui/loading.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { LoginStats } from './login-stats.tsx';
import { type AdminSession, useAdminSession } from './queries.ts';
import { UnlockForm } from './unlock-form.tsx';

/** /iladmin: the daily sign-ins, behind the admin password. */
export function LoginStatsPage() {
  const session = useAdminSession();
  if (session.data?.unlocked) return <LoginStats development={session.data.development} />;
  if (session.isPending) return <Loading />;
  return (
    <div className="mx-auto grid max-w-md gap-6 py-12 sm:py-20">
      <div className="grid gap-5 rounded-panel border border-line bg-panel p-6 sm:p-8">
        <PageHeading title="Admin Access" />
        {session.data ? (
          <Locked session={session.data} />
        ) : (
          <Failed {...session} fallback="It could not be asked whether the admin pages are open." />
        )}
      </div>
    </div>
  );
}

function Locked({ session }: { session: AdminSession }) {
  if (!session.enabled) {
    return (
      <p className="text-[0.9375rem] leading-6 text-muted">
        The admin dashboard is disabled. The operator enables it by setting{' '}
        <code className="font-mono text-[0.875rem]">ADMIN_PASSWORD</code>, of at least 15 characters, and starting the service again.
      </p>
    );
  }
  return (
    <>
      {session.ended ? (
        <Alert>Your admin session has ended. Enter the password to go on.</Alert>
      ) : (
        <p className="text-[0.9375rem] leading-6 text-muted">The operator's password opens the login statistics of this service.</p>
      )}
      <UnlockForm />
    </>
  );
}
