import { lazy, Suspense } from 'react';
import type { Day } from './day-bars-chart.tsx';
import type { Series } from './stacked-days-chart.tsx';
import { Skeleton } from './states.tsx';

// recharts is large and most pages have no chart. When it cannot be loaded, the page still shows its numbers.
const Bars = lazy(() =>
  import('./day-bars-chart.tsx').then(
    ({ DayBarsChart }) => ({ default: DayBarsChart }),
    () => ({ default: NoChart }),
  ),
);

/** A bar chart with one bar a day, oldest first, and the same data as a table for screen readers. @param unit what is counted, such as `logins` */
export function DayBars({ title, unit, days }: { title: string; unit: string; days: Day[] }) {
  return (
    <figure>
      <figcaption className="mb-4 text-sm font-medium">{title}</figcaption>
      <div aria-hidden="true" className="h-56 overflow-hidden">
        <Suspense fallback={<Skeleton className="h-full w-full" />}>
          <Bars unit={unit} days={days} />
        </Suspense>
      </div>
      {/* A table itself ignores the height that hides it. */}
      <div className="sr-only">
        <table>
          <caption>{title}</caption>
          <thead>
            <tr>
              <th scope="col">Date</th>
              <th scope="col">{unit}</th>
            </tr>
          </thead>
          <tbody>
            {days.map(({ date, count }) => (
              <tr key={date}>
                <th scope="row">{date}</th>
                <td>{count}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

function NoChart() {
  return <p className="grid h-full place-items-center text-sm text-muted">The chart could not be loaded. Reload the page to see it.</p>;
}

type StacksProps<Key extends string> = { series: readonly Series<Key>[]; days: readonly ({ date: string } & Record<Key, number>)[] };

// recharts is large and most pages have no chart. When it cannot be loaded, the page still shows its numbers.
const Stacks = lazy(() =>
  import('./stacked-days-chart.tsx').then(
    ({ StackedDaysChart }) => ({ default: StackedDaysChart }),
    () => ({ default: NoChart }),
  ),
);

/** A chart with one bar a day, oldest first, whose parts are `series`, and the same data as a table for screen readers. */
export function StackedDays<Key extends string>({ title, series, days }: StacksProps<Key> & { title: string }) {
  return (
    <figure>
      <figcaption className="mb-4 flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
        <span className="text-sm font-medium">{title}</span>
        <span aria-hidden="true" className="flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem] text-muted">
          {series.map(({ key, label, color }) => (
            <span key={key} className="inline-flex items-center gap-1.5">
              <svg viewBox="0 0 8 8" className="size-2" aria-hidden="true">
                <rect width="8" height="8" rx="2" fill={`var(${color})`} />
              </svg>
              {label}
            </span>
          ))}
        </span>
      </figcaption>
      <div aria-hidden="true" className="h-56 overflow-hidden">
        <Suspense fallback={<Skeleton className="h-full w-full" />}>
          <Stacks series={series} days={days as never} />
        </Suspense>
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
                <th scope="row">{day.date}</th>
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
