import { lazy, Suspense } from 'react';
import type { DaysProps, Series } from './day-bars-chart.tsx';
import { WhenVisible } from './panels.tsx';
import { Skeleton } from './states.tsx';

// recharts is large, and most pages have no chart. When it cannot be loaded, the page still shows its numbers.
const Chart = lazy(() =>
  import('./day-bars-chart.tsx').then(
    ({ DayBarsChart }) => ({ default: DayBarsChart }),
    () => ({ default: NoChart }),
  ),
);

/**
 * A chart with one bar a day, whose parts are `series`, and the same data as a table for screen readers. The present UTC day is marked,
 * because its count still grows.
 */
export function DayBars<Key extends string>({ title, series, days }: DaysProps<Key> & { title: string }) {
  const today = new Date().toISOString().slice(0, 10);
  const isEmpty = days.every((day) => series.every(({ key }) => day[key] === 0));
  return (
    <figure>
      <figcaption className="mb-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <span className="text-sm font-medium">{title}</span>
        {!isEmpty && <Legend series={series} hasToday={days.some(({ date }) => date === today)} />}
      </figcaption>
      <div aria-hidden="true" className="h-56 overflow-hidden">
        {isEmpty ? (
          <p className="grid h-full place-items-center rounded-control bg-sunk text-sm text-muted">Nothing on these days yet</p>
        ) : (
          <WhenVisible className="h-full">
            <Suspense fallback={<Skeleton className="h-full w-full" />}>
              <Chart series={series} days={days as never} today={today} />
            </Suspense>
          </WhenVisible>
        )}
      </div>
      {/* A table itself ignores the height that hides it. */}
      <div className="sr-only">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Date</th>
              {series.map(({ key, label }) => (
                <th key={key} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day) => (
              <tr key={day.date}>
                <th scope="row">
                  {day.date}
                  {day.date === today && ', so far'}
                </th>
                {series.map(({ key }) => (
                  <td key={key}>{day[key]}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

function Legend({ series, hasToday }: { series: readonly Series<string>[]; hasToday: boolean }) {
  return (
    <span aria-hidden="true" className="flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem] text-muted">
      {(series.length > 1 ? series : []).map(({ key, label, color }) => (
        <span key={key} className="inline-flex items-center gap-1.5">
          <svg viewBox="0 0 8 8" className="size-2" aria-hidden="true">
            <rect width="8" height="8" rx="2" fill={`var(${color})`} />
          </svg>
          {label}
        </span>
      ))}
      {hasToday && (
        <span className="inline-flex items-center gap-1.5">
          <svg viewBox="0 0 8 8" className="size-2" aria-hidden="true">
            <path d="M0 8 8 0M-2 4 4-2M4 10l6-6" stroke="currentColor" strokeWidth="1.5" />
          </svg>
          Today, so far
        </span>
      )}
    </span>
  );
}

function NoChart() {
  return <p className="grid h-full place-items-center text-sm text-muted">The chart could not be loaded. Reload the page to see it.</p>;
}
