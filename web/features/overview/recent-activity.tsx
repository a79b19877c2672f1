import { Link } from 'wouter';
import type { Output } from '../../../contract/routes.ts';
import { paths } from '../../paths.ts';
import { AuditRow } from '../../ui/audit-row.tsx';
import { ArrowIcon } from '../../ui/icons.tsx';
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
      <div className="mb-1 flex min-h-11 flex-wrap items-center justify-between gap-x-4">
        <h2 id="activity" className="text-lg font-semibold tracking-tight">
          Recent Activity
        </h2>
        <Link href={paths.activity} className="inline-flex min-h-11 items-center gap-2 text-sm text-muted hover:text-ink">
          Show all
          <span className="sr-only"> activity</span>
          <ArrowIcon className="size-4" />
        </Link>
      </div>
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
      {entries.map((entry) => (
        <AuditRow key={entry.id} {...entry} />
      ))}
    </Rows>
  );
}
