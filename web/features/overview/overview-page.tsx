import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { overviewQuery, recentActivityQuery } from '../../lib/overview-queries.ts';
import { listStateOf, websitesQuery } from '../../lib/websites-list.ts';
import { paths } from '../../paths.ts';
import { StatusDot } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ArrowIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Rows, RowsLoading, Stat, Stats } from '../../ui/panels.tsx';
import { Failed } from '../../ui/states.tsx';
import { LoginsChart } from './logins-chart.tsx';
import { NextStep } from './next-step.tsx';
import { RecentActivity } from './recent-activity.tsx';

/** /dashboard: the statistics of the account. */
export function OverviewPage() {
  const queries = useQueryClient();
  const overview = useQuery(overviewQuery);
  const activity = useQuery(recentActivityQuery);
  const websites = useQuery(websitesQuery(listStateOf(new URLSearchParams())));
  const refresh = () =>
    Promise.all([activity.refetch(), websites.refetch(), queries.refetchQueries({ queryKey: overviewQuery.queryKey, type: 'active' })]);
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
          {websites.data && data && <NextStep domains={websites.data.websites.map(({ domain }) => domain)} logins={data.totalLogins} />}
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
