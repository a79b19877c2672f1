import { type FormEvent, useRef, useState } from 'react';
import { ApiError } from '../../../contract/client.ts';
import { MAX_ADMIN_PASSWORD } from '../../../contract/limits.ts';
import { errorText } from '../../lib/api.ts';
import { useAct, useCall } from '../../lib/calls.ts';
import { formatWait, longDay } from '../../lib/dates.ts';
import { Button } from '../../ui/button.tsx';
import { DayBars } from '../../ui/day-bars.tsx';
import { Field } from '../../ui/field.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { CountedEveryMinute, Stat, Stats } from '../../ui/panels.tsx';
import { Alert, Failed, Loading, Skeleton } from '../../ui/states.tsx';
import { AdminNav, type AdminSession, LogoutButton, useAdminSession, useChangeSession } from './admin-session.tsx';

const SERIES = [{ key: 'count', label: 'Logins', color: '--color-accent' }] as const;

/** /iladmin: the daily sign-ins, protected by the admin password. */
export function LoginStatsPage() {
  const session = useAdminSession();
  if (session.data?.unlocked) return <LoginStats development={session.data.development} />;
  if (session.isPending) return <Loading />;
  return (
    <div className="mx-auto grid max-w-md gap-6 py-12 sm:py-20">
      <div className="grid gap-5 rounded-panel border border-line bg-panel p-6 sm:p-8">
        <PageHeading title="Admin Access" />
        {session.data ? <Locked session={session.data} /> : <Failed {...session} fallback="The admin session could not be checked." />}
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
        <Alert>Your admin session has ended. Enter the password to continue.</Alert>
      ) : (
        <p className="text-[0.9375rem] leading-6 text-muted">The operator's password opens the login statistics of this service.</p>
      )}
      <UnlockForm />
    </>
  );
}

/** The form for the admin password. */
function UnlockForm() {
  const unlock = useAct('adminVerify');
  const changeSession = useChangeSession();
  const field = useRef<HTMLInputElement>(null);
  const [password, setPassword] = useState('');
  const [fault, setFault] = useState<string | null>(null);

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (unlock.isPending) return;
    setFault(null);
    unlock.mutate(
      { password },
      {
        onSuccess: () => changeSession({ unlocked: true, ended: false }),
        onError: (error) => {
          if (error instanceof ApiError && error.code === 'admin_disabled') changeSession({ enabled: false });
          setPassword('');
          setFault(faultOf(error));
          field.current?.focus();
        },
      },
    );
  };

  return (
    <form noValidate onSubmit={submit} className="grid gap-5">
      <Field
        ref={field}
        label="Password"
        type="password"
        name="password"
        autoComplete="current-password"
        placeholder="Enter password"
        maxLength={MAX_ADMIN_PASSWORD}
        value={password}
        error={fault}
        onChange={(event) => setPassword(event.target.value)}
      />
      <Button type="submit" busy={unlock.isPending}>
        {unlock.isPending ? 'Verifying...' : 'Access Dashboard'}
      </Button>
    </form>
  );
}

function faultOf(error: Error): string {
  const code = error instanceof ApiError ? error.code : null;
  if (error instanceof ApiError && code === 'rate_limited')
    return `Too many wrong passwords. You can try again ${formatWait(error.retryAfter ?? 60, 'en')}.`;
  return code === 'bad_password' ? error.message : errorText(error, 'The password could not be checked.');
}

type Day = { date: string; count: number };

const CHART_DAYS = 14;

/** The statistics, in an admin session. */
function LoginStats({ development }: { development: boolean }) {
  const logins = useCall('dailyLogins', {}, { refetchOnMount: 'always', refetchOnWindowFocus: 'always' });
  const days = logins.data;
  return (
    <div className="py-8 sm:py-12">
      {development && <AdminNav />}
      <div className="mb-8 flex flex-wrap items-center justify-between gap-3">
        <PageHeading title="Admin Dashboard" />
        <LogoutButton />
      </div>
      {!days && logins.error ? (
        <Failed {...logins} fallback="The statistics could not be loaded." />
      ) : (
        <div className="grid gap-10">
          <div className="grid gap-4">
            <Summary days={days} />
            <CountedEveryMinute />
          </div>
          {days ? <DailyLogins days={days} /> : <StatsLoading />}
        </div>
      )}
    </div>
  );
}

function Summary({ days }: { days: Day[] | undefined }) {
  const total = days?.reduce((sum, { count }) => sum + count, 0) ?? 0;
  const format = (value: number) => days && value.toLocaleString('en');
  return (
    <Stats>
      <Stat label="Today's Logins" value={format(days?.[0]?.count ?? 0)} />
      <Stat label="Total Logins (30d)" value={format(total)} />
      <Stat label="Avg. Logins/Day" value={format(Math.round(total / (days?.length || 1)))} />
    </Stats>
  );
}

/** @param days newest first */
function DailyLogins({ days }: { days: Day[] }) {
  return (
    <>
      <DayBars title="Daily Login Activity (Last 14 Days)" series={SERIES} days={days.slice(0, CHART_DAYS).reverse()} />
      <section aria-labelledby="all-days">
        <h2 id="all-days" className="mb-4 text-sm font-medium">
          All Daily Login Stats (Last 30 Days)
        </h2>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be focusable (WCAG 2.1.1) */}
        <ul tabIndex={0} className="max-h-96 divide-y divide-line overflow-y-auto rounded-panel border border-line bg-panel">
          {days.map(({ date, count }) => (
            <li key={date} className="flex flex-wrap items-baseline justify-between gap-x-3 px-4 py-3 text-sm sm:px-5 sm:text-[0.9375rem]">
              <time dateTime={date}>{longDay(date)}</time>
              <span className="tabular-nums text-muted">
                {count.toLocaleString('en')} {count === 1 ? 'login' : 'logins'}
              </span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

const StatsLoading = () => (
  <div>
    <p role="status" className="mb-4 text-sm text-muted">
      Loading statistics...
    </p>
    <Skeleton className="h-56" />
    <Skeleton className="mt-10 h-96" />
  </div>
);
