import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { STATS_DAYS, STATS_PERIODS } from '../../../contract/limits.ts';
import { LOCALHOST } from '../../../contract/urls.ts';
import { STALE_MS, useCall, useRefresh } from '../../lib/calls.ts';
import { isLocalMode } from '../../lib/local-mode.ts';
import { signInLinkSnippet } from '../../lib/snippets.ts';
import { listStateOf, periodOf, websitesQuery } from '../../lib/url-state.ts';
import { paths, RECENT_ENTRIES } from '../../pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CodeBlock } from '../../ui/copyable.tsx';
import { cx } from '../../ui/cx.ts';
import { DayBars } from '../../ui/day-bars.tsx';
import { Periods } from '../../ui/filters.tsx';
import { ArrowIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { AuditRow, CountedEveryMinute, Rows, RowsLoading, Stat, Stats } from '../../ui/panels.tsx';
import { Empty, Failed, Skeleton, StatusDot } from '../../ui/states.tsx';

/** /dashboard: the statistics of the account. */
export function OverviewPage() {
  const refresh = useRefresh();
  const overview = useCall('overview', {}, { staleTime: STALE_MS });
  const activity = useCall('auditLogs', { limit: RECENT_ENTRIES }, { staleTime: STALE_MS });
  const websites = useQuery(websitesQuery(listStateOf(new URLSearchParams())));
  const { data, error, dataUpdatedAt } = overview;

  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <div>
          <PageHeading title="Overview" />
          <p className="mt-1.5 min-h-6 text-muted">Last 30 days{dataUpdatedAt > 0 && <LoadedAt time={dataUpdatedAt} />}</p>
        </div>
        <Button
          variant="secondary"
          small
          busy={overview.isFetching && !overview.isPending}
          onClick={() => refresh('overview', 'accountLogins', 'auditLogs', 'searchWebsites')}
        >
          Refresh
        </Button>
      </div>
      <section aria-label="Statistics" className="mt-8 grid gap-4">
        {error && <Failed {...overview} fallback="The statistics could not be loaded." />}
        {(data || !error) && (
          <Stats>
            <Stat label="Total Logins" value={data?.totalLogins.toLocaleString('en')} />
            <Stat label="Active Applications" value={data?.activeApplications.toLocaleString('en')} />
            <Stat label="API Requests" value={data?.apiRequests.toLocaleString('en')} />
            <Stat label="Uptime" value={data && percentOf(data.uptimePercent)} />
          </Stats>
        )}
        <CountedEveryMinute />
      </section>
      {overview.isPending || websites.isPending ? (
        <div className="mt-10">
          <RowsLoading what="the overview" rows={3} />
        </div>
      ) : (
        <>
          {websites.data && data && <NextStep websites={websites.data.websites} logins={data.totalLogins} />}
          {(websites.data?.total !== 0 || data?.totalLogins !== 0) && <LoginsChart />}
          <div className="mt-10 grid items-start gap-x-8 gap-y-10 lg:grid-cols-2">
            <RecentActivity {...activity} />
            <ActiveServices />
          </div>
        </>
      )}
    </>
  );
}

function LoadedAt({ time }: { time: number }) {
  const date = new Date(time);
  return (
    <>
      , loaded at <time dateTime={date.toISOString()}>{date.toLocaleTimeString('en-GB')}</time>
    </>
  );
}

/** Returns a percentage, rounded down: 100% means no failure at all. */
function percentOf(percent: number | null): string | null {
  if (percent === null) return null;
  return percent === 100 ? '100%' : `${(Math.floor(percent * 100) / 100).toFixed(2)}%`;
}

/** The next step until the first sign-in: add a website, then link to its sign-in page. */
function NextStep({ websites, logins }: { websites: Output<'searchWebsites'>['websites']; logins: number }) {
  // An app on this computer is followed on the page of localhost.
  const own = websites.filter(({ domain }) => domain !== LOCALHOST);
  const domain = own[0]?.domain;
  if (!domain) {
    return (
      <section aria-labelledby="next" className="mt-10">
        <h2 id="next" className="sr-only">
          Next step
        </h2>
        <Empty title="Add your first website" text="Its visitors can sign in by email as soon as its domain is listed under My Websites.">
          <ButtonLink as={Link} href={paths.websites}>
            Add a website
          </ButtonLink>
        </Empty>
      </section>
    );
  }
  // In local mode, the logins include those to this computer.
  if (isLocalMode ? own.some(({ lastSignIn }) => lastSignIn !== null) : logins > 0) return null;
  const signIn = `${paths.signIn}?forward_url=${encodeURIComponent(`https://${domain}/`)}`;
  return (
    <section aria-labelledby="next" className="mt-10 grid grid-cols-1 gap-4">
      <div>
        <h2 id="next" className="text-lg font-semibold tracking-tight">
          Link to your sign-in page
        </h2>
        <p className="mt-1 max-w-2xl text-[0.9375rem] leading-6 text-muted wrap-anywhere">
          No one has signed in yet. Put this link on {domain}; a visitor who signs in returns with a token, which your server verifies once.
        </p>
      </div>
      <CodeBlock label={`Link on ${domain}`} code={signInLinkSnippet(location.origin, domain)} />
      <div className="flex flex-wrap gap-2">
        <ButtonLink variant="secondary" href={signIn}>
          Open its sign-in page
        </ButtonLink>
        <ButtonLink variant="quiet" as={Link} href={paths.guide}>
          Read the guide
        </ButtonLink>
      </div>
    </section>
  );
}

type Entry = Output<'auditLogs'>[number];

/** The newest audit log entries of the account. It takes the `data`, `error`, `isFetching` and `refetch` of their query. */
function RecentActivity({
  data: entries,
  error,
  isFetching,
  refetch,
}: {
  data: Entry[] | undefined;
  error: unknown;
  isFetching: boolean;
  refetch: () => unknown;
}) {
  return (
    <section aria-labelledby="activity" className="min-w-0">
      <div className="mb-1 flex min-h-11 flex-wrap items-center justify-between gap-x-4">
        <h2 id="activity" className="text-lg font-semibold tracking-tight">
          Recent Activity
        </h2>
        <Link href={paths.activity} className="inline-flex min-h-11 items-center gap-2 text-sm text-muted hover:text-ink">
          Show all
          <span className="sr-only"> activity</span>
          <ArrowIcon className="size-4" />
        </Link>
      </div>
      {!entries && !error && <RowsLoading what="recent activity" />}
      {error ? (
        <Failed error={error} isFetching={isFetching} refetch={refetch} fallback="Your activity could not be loaded." />
      ) : (
        entries && <Entries entries={entries} />
      )}
    </section>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  if (entries.length === 0)
    return <Empty title="No recent activity" text="Your changes are listed here: websites, applications, keys, and your own sign-ins." />;
  return (
    <Rows>
      {entries.map((entry) => (
        <AuditRow key={entry.id} {...entry} />
      ))}
    </Rows>
  );
}

const services = [
  { name: 'Authentication', href: paths.applications, tone: 'live', status: 'Active' },
  { name: 'Analytics', href: paths.analytics, tone: 'off', status: 'Coming Soon' },
  { name: 'Bug Reports', href: paths.bugs, tone: 'off', status: 'Coming Soon' },
] as const;

function ActiveServices() {
  return (
    <section aria-labelledby="services">
      <h2 id="services" className="mb-1 flex min-h-11 items-center text-lg font-semibold tracking-tight">
        Active Services
      </h2>
      <Rows>
        {services.map(({ name, href, tone, status }) => (
          <li key={name}>
            <Link href={href} className="group flex min-h-14 items-center gap-4 px-4 py-3 -outline-offset-2 sm:px-5">
              <span className="grow font-medium">{name}</span>
              <span className="text-muted">
                <StatusDot tone={tone}>{status}</StatusDot>
              </span>
              <ArrowIcon className="size-4 text-muted transition-transform group-hover:translate-x-0.5" />
            </Link>
          </li>
        ))}
      </Rows>
    </section>
  );
}

/** The sign-ins per day, with a comparison to the period before. The address has the period. */
function LoginsChart() {
  const [query] = useSearchParams();
  const days = periodOf(query);
  const logins = useCall('accountLogins', { days }, { staleTime: STALE_MS, placeholderData: keepPreviousData });
  const { data, error, isPlaceholderData } = logins;
  return (
    <section aria-labelledby="logins" className="mt-8">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h2 id="logins" className="text-lg font-semibold tracking-tight">
          Sign-ins
        </h2>
        <Periods
          periods={STATS_PERIODS}
          current={days}
          hrefOf={(each) => (each === STATS_DAYS ? paths.dashboard : `${paths.dashboard}?days=${each}`)}
        />
      </div>
      {error && <Failed {...logins} fallback="The sign-ins could not be loaded." />}
      {!error && (
        <div
          aria-busy={isPlaceholderData || !data}
          className={cx('min-h-84 rounded-panel border border-line bg-panel p-5 transition-opacity', isPlaceholderData && 'opacity-60')}
        >
          {data ? <Chart logins={data} /> : <Skeleton className="h-72 w-full" />}
        </div>
      )}
    </section>
  );
}

const SERIES = [{ key: 'count', label: 'Sign-ins', color: '--color-accent' }] as const;

function Chart({ logins: { days, total, previousTotal } }: { logins: Output<'accountLogins'> }) {
  return (
    <>
      <p className="text-2xl font-semibold leading-8 tracking-tight tabular-nums">{total.toLocaleString('en')}</p>
      <p role="status" className="mb-5 text-sm text-muted">
        {changeOf(total, previousTotal, days.length)}
      </p>
      <DayBars title={`Sign-ins per UTC day, last ${days.length} days`} series={SERIES} days={days} />
    </>
  );
}

/**
 * Returns how a count compares with that of the period before, as a sentence.
 * @param previous null: there was nothing to count during a part of that period
 */
export function changeOf(total: number, previous: number | null, days: number): string {
  const before = `the ${days} days before`;
  if (previous === null) return `Not enough earlier data to compare with ${before}.`;
  if (previous === total) return `As many as in ${before}.`;
  const counts = `${previous.toLocaleString('en')} in ${before}`;
  if (previous === 0) return `Up from ${counts}.`;
  const percent = Math.round((Math.abs(total - previous) / previous) * 100);
  const direction = total > previous ? 'Up' : 'Down';
  return `${direction} ${percent < 1 ? 'less than 1' : percent.toLocaleString('en')}% from ${counts}.`;
}
