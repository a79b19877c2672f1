import { cx } from '../../ui/cx.ts';
import { duration, type History } from './status.ts';

type Day = History['days'][number];

const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const dayName = (date: string) => format.format(new Date(`${date}T00:00:00Z`));

// Forced colors replace every background that is not a color of the system.
const GOOD = 'bg-accent forced-colors:bg-[LinkText]';
const FAILED = 'bg-danger forced-colors:bg-[CanvasText]';

/** One bar for each day, oldest first, and the same data as a table. */
export function DayStrip({ days }: { days: Day[] }) {
  return (
    <figure>
      <figcaption className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
        <span className="font-medium">Last 30 days</span>
        <span className="flex flex-wrap gap-x-4 text-[0.8125rem] text-muted">
          <LegendEntry className={GOOD}>Good</LegendEntry>
          <LegendEntry className={FAILED}>Failed</LegendEntry>
          <LegendEntry className="border border-edge/60">Not measured</LegendEntry>
        </span>
      </figcaption>
      <div aria-hidden="true" className="mt-4 flex h-12 gap-0.5 sm:gap-1">
        {days.map((day) => (
          <span
            key={day.date}
            title={`${dayName(day.date)}: ${textOf(day)}`}
            className={cx(
              'relative min-w-0 grow overflow-hidden rounded-sm hover:opacity-75',
              day.measured > 0 ? GOOD : 'border border-edge/60',
            )}
          >
            {day.failed > 0 && <span className={cx('absolute inset-x-0 bottom-0', FAILED, share(day))} />}
          </span>
        ))}
      </div>
      <div aria-hidden="true" className="mt-2 flex justify-between text-[0.8125rem] text-muted">
        <span>{dayName(days[0].date)}</span>
        <span>Today, UTC</span>
      </div>
      <details className="mt-2 text-sm">
        <summary className="inline-flex min-h-11 items-center rounded-control text-muted underline underline-offset-4 hover:text-ink">
          Day by day, as a table
        </summary>
        <div className="mt-2 rounded-panel border border-line">
          <table className="w-full text-left">
            <caption className="sr-only">Minutes that were measured on each of the last 30 days</caption>
            <thead className="text-muted">
              <tr>
                <th scope="col" className="px-4 py-2 font-normal">
                  Day
                </th>
                <th scope="col" className="px-4 py-2 font-normal">
                  Measured
                </th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line border-t border-line tabular-nums">
              {[...days].reverse().map((day) => (
                <tr key={day.date}>
                  <th scope="row" className="whitespace-nowrap px-4 py-2 font-normal">
                    {dayName(day.date)}
                  </th>
                  <td className={cx('px-4 py-2', day.failed > 0 && 'text-danger', day.measured === 0 && 'text-muted')}>{textOf(day)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

const LegendEntry = ({ className, children }: { className: string; children: string }) => (
  <span className="inline-flex items-center gap-1.5">
    <span aria-hidden="true" className={cx('size-2.5 rounded-xs', className)} />
    {children}
  </span>
);

/** Returns the height of the red part of a bar, which shows even a single minute. */
function share({ measured, failed }: Day): string {
  const part = failed / measured;
  return part > 0.75 ? 'h-full' : part > 0.25 ? 'h-3/5' : 'h-1/4';
}

function textOf({ measured, failed }: Day): string {
  if (measured === 0) return 'not measured';
  return failed === 0 ? `good, ${duration(measured)} measured` : `${duration(failed)} failed of ${duration(measured)} measured`;
}
