import { Rows } from '../../ui/rows.tsx';
import { StatusDot } from '../../ui/status-dot.tsx';
import type { History } from './queries.ts';
import { duration, incidentWords } from './words.ts';

const format = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' });

/** Incidents of the last 30 days, newest first. */
export function Incidents({ incidents }: Pick<History, 'incidents'>) {
  if (incidents.length === 0) {
    return <p className="rounded-panel border border-dashed border-edge/60 px-5 py-8 text-center text-muted">No incidents reported</p>;
  }
  return (
    <Rows>
      {incidents.map(({ startedAt, endedAt, minutes, components }) => (
        <li key={startedAt} className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 px-4 py-4 sm:px-5">
          <div className="min-w-0">
            <h3 className="font-medium">{incidentWords(components)}</h3>
            <p className="mt-0.5 text-sm text-muted">
              <time dateTime={startedAt}>{format.format(Date.parse(startedAt))}</time> · {duration(minutes)}
              {endedAt === null && ' so far'}
            </p>
          </div>
          <StatusDot tone={endedAt === null ? 'bad' : 'off'}>{endedAt === null ? 'Goes on' : 'Resolved'}</StatusDot>
        </li>
      ))}
    </Rows>
  );
}
