import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { STATS_DAYS, STATS_PERIODS } from '../../../contract/limits.ts';
import type { Output } from '../../../contract/routes.ts';
import { accountLoginsQuery, type Period, periodOf } from '../../lib/preloaded-queries.ts';
import { paths } from '../../paths.ts';
import { cx } from '../../ui/cx.ts';
import { DayBars } from '../../ui/day-bars.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';

/** The sign-ins per day, with a comparison to the period before. The address has the period. */
export function LoginsChart() {
  const [query] = useSearchParams();
  const days = periodOf(query);
  const logins = useQuery({ ...accountLoginsQuery(days), placeholderData: keepPreviousData });
  const { data, error, isPlaceholderData } = logins;
  return (
    <section aria-labelledby="logins" className="mt-8">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h2 id="logins" className="text-lg font-semibold tracking-tight">
          Sign-ins
        </h2>
        <Periods current={days} />
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

function Periods({ current }: { current: Period }) {
  return (
    <nav aria-label="Period">
      <ul className="flex divide-x divide-line overflow-hidden rounded-control border border-line">
        {STATS_PERIODS.map((days) => (
          <li key={days}>
            <Link
              href={days === STATS_DAYS ? paths.dashboard : `${paths.dashboard}?days=${days}`}
              replace
              aria-current={days === current ? 'true' : undefined}
              className={cx(
                'flex min-h-11 items-center px-4 text-sm font-medium -outline-offset-2',
                days === current ? 'bg-sunk text-ink' : 'text-muted hover:text-ink',
              )}
            >
              {days} days
            </Link>
          </li>
        ))}
      </ul>
    </nav>
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
