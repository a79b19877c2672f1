import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api } from '../../lib/api.ts';
import { paths } from '../../paths.ts';
import { StatusDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ArrowIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, RowsLoading, Stat, Stats } from '../../ui/panels.tsx';
import { Failed } from '../../ui/states.tsx';
import { NextStep } from './next-step.tsx';
import { RecentActivity } from './recent-activity.tsx';

/** How long statistics and activity are shown from the cache when the page is opened again. */
const STALE_MS = 5_000;
const ACTIVITY_ENTRIES = 4;

const useOverview = () =>
  useQuery({
    queryKey: ['overview'],
    queryFn: ({ signal }) => api.overview({}, { signal }),
    staleTime: STALE_MS,
  });

const useRecentActivity = () =>
  useQuery({
    queryKey: ['activity', ACTIVITY_ENTRIES],
    queryFn: ({ signal }) => api.auditLogs({ limit: ACTIVITY_ENTRIES }, { signal }),
    staleTime: STALE_MS,
  });

/** Has the key of the websites page, whose changes then update this list. */
const useWebsites = () => useQuery({ queryKey: ['websites'], queryFn: ({ signal }) => api.listWebsites({}, { signal }) });

/** /dashboard: the statistics of the account. */
export function OverviewPage() {
  const overview = useOverview();
  const activity = useRecentActivity();
  const websites = useWebsites();
  const refresh = () => Promise.all([overview.refetch(), activity.refetch(), websites.refetch()]);
  const { data, error, dataUpdatedAt } = overview;

  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <div>
          <PageHeading title="Overview" />
          <p className="mt-1.5 min-h-6 text-muted">Last 30 days{dataUpdatedAt > 0 && <MeasuredAt time={dataUpdatedAt} />}</p>
        </div>
        <Button variant="secondary" small busy={overview.isFetching && !overview.isPending} onClick={refresh}>
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
      </section>
      {overview.isPending || websites.isPending ? (
        <div className="mt-10">
          <RowsLoading what="the overview" rows={3} />
        </div>
      ) : (
        <>
          {websites.data && data && <NextStep domains={websites.data.map(({ domain }) => domain)} logins={data.totalLogins} />}
          <div className="mt-10 grid items-start gap-x-8 gap-y-10 lg:grid-cols-2">
            <ActiveServices />
            <RecentActivity {...activity} />
          </div>
        </>
      )}
    </>
  );
}

function MeasuredAt({ time }: { time: number }) {
  const date = new Date(time);
  return (
    <>
      , measured at <time dateTime={date.toISOString()}>{date.toLocaleTimeString('en-GB')}</time>
    </>
  );
}

/** Returns a percentage, rounded down: 100% means no failure at all. */
function percentOf(percent: number | null): string | null {
  if (percent === null) return null;
  return percent === 100 ? '100%' : `${(Math.floor(percent * 100) / 100).toFixed(2)}%`;
}

const services = [
  { name: 'Authentication', href: paths.applications, tone: 'live', status: 'Active' },
  { name: 'Analytics', href: paths.analytics, tone: 'off', status: 'Coming Soon' },
  { name: 'Bug Reports', href: paths.bugs, tone: 'off', status: 'Coming Soon' },
] as const;

function ActiveServices() {
  return (
    <section aria-labelledby="services">
      <h2 id="services" className="mb-4 text-lg font-semibold tracking-tight">
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
