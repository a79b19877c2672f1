import { lazy, Suspense } from 'react';
import type { Day } from './day-bars-chart.tsx';
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
