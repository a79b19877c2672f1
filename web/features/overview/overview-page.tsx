import { Button } from '../../ui/button.tsx';
import { Failed } from '../../ui/failed.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { RowsLoading } from '../../ui/rows.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { ActiveServices } from './active-services.tsx';
import { NextStep } from './next-step.tsx';
import { useOverview, useRecentActivity, useWebsites } from './queries.ts';
import { RecentActivity } from './recent-activity.tsx';

/** /dashboard: what the account's services do, measured. */
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
        <Button look="secondary" small busy={overview.isFetching && !overview.isPending} onClick={refresh}>
          Refresh
        </Button>
      </div>
      <section aria-label="Figures" className="mt-8 grid gap-4">
        {error && <Failed {...overview} fallback="The figures could not be loaded." />}
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

/** Rounded down: 100% stands for nothing less. */
function percentOf(percent: number | null): string | null {
  if (percent === null) return null;
  return percent === 100 ? '100%' : `${(Math.floor(percent * 100) / 100).toFixed(2)}%`;
}
