import { longDay } from '../../lib/dates.ts';
import { DayBars } from '../../ui/day-bars.tsx';
import { Failed } from '../../ui/failed.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Stat, Stats } from '../../ui/stat.tsx';
import { AdminNav } from './admin-nav.tsx';
import { LogoutButton } from './logout-button.tsx';
import { useDailyLogins } from './queries.ts';

type Day = { date: string; count: number };

const CHART_DAYS = 14;

/** The statistics, once they are unlocked. */
export function LoginStats({ development }: { development: boolean }) {
  const logins = useDailyLogins();
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
          <Figures days={days} />
          {days ? <Charted days={days} /> : <Waiting />}
        </div>
      )}
    </div>
  );
}

function Figures({ days }: { days: Day[] | undefined }) {
  const total = days?.reduce((sum, { count }) => sum + count, 0) ?? 0;
  const figure = (value: number) => days && value.toLocaleString('en');
  return (
    <Stats>
      <Stat label="Today's Logins" value={figure(days?.[0]?.count ?? 0)} />
      <Stat label="Total Logins (30d)" value={figure(total)} />
      <Stat label="Avg. Logins/Day" value={figure(Math.round(total / (days?.length || 1)))} />
    </Stats>
  );
}

/** @param days newest first */
function Charted({ days }: { days: Day[] }) {
  return (
    <>
      <DayBars title="Daily Login Activity (Last 14 Days)" unit="logins" days={days.slice(0, CHART_DAYS).reverse()} />
      <section aria-labelledby="all-days">
        <h2 id="all-days" className="mb-4 text-sm font-medium">
          All Daily Login Stats (Last 30 Days)
        </h2>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1) */}
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

const Waiting = () => (
  <div>
    <p role="status" className="mb-4 text-sm text-muted">
      Loading statistics...
    </p>
    <Skeleton className="h-56" />
    <Skeleton className="mt-10 h-96" />
  </div>
);
