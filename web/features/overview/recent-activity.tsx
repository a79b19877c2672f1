import type { Output } from '../../../contract/routes.ts';
import { timeAgo } from '../../lib/dates.ts';
import { Rows, RowsLoading } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';

type Entry = Output<'auditLogs'>[number];

/** The newest audit log entries of the account. It takes the `data`, `error`, `isFetching` and `refetch` of their query. */
export function RecentActivity({
  data: entries,
  error,
  isFetching,
  refetch,
}: {
  data: Entry[] | undefined;
  error: unknown;
  isFetching: boolean;
  refetch: () => unknown;
}) {
  return (
    <section aria-labelledby="activity" className="min-w-0">
      <h2 id="activity" className="mb-4 text-lg font-semibold tracking-tight">
        Recent Activity
      </h2>
      {!entries && !error && <RowsLoading what="recent activity" />}
      {error ? (
        <Failed error={error} isFetching={isFetching} refetch={refetch} fallback="Your activity could not be loaded." />
      ) : (
        entries && <Entries entries={entries} />
      )}
    </section>
  );
}

function Entries({ entries }: { entries: Entry[] }) {
  if (entries.length === 0)
    return <Empty title="No recent activity" text="Your changes are listed here: websites, applications, keys, and your own sign-ins." />;
  return (
    <Rows>
      {entries.map(({ id, action, createdAt, domain }) => (
        <li key={id} className="flex min-h-14 items-center gap-4 px-4 py-3 sm:px-5">
          <span className="min-w-0 grow wrap-anywhere">
            <span className="inline-block font-medium first-letter:uppercase">{action.replaceAll('_', ' ')}</span>
            {domain && <span className="block font-mono text-[0.8125rem] text-muted">{domain}</span>}
          </span>
          <Moment date={createdAt} />
        </li>
      ))}
    </Rows>
  );
}

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' });

/** A relative time, with the exact time as its title. */
function Moment({ date }: { date: string }) {
  const time = Date.parse(date);
  return (
    <time dateTime={date} title={exact.format(time)} className="shrink-0 text-sm text-muted">
      {timeAgo(time, 'en')}
    </time>
  );
}
