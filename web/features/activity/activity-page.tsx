import { useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { Output } from '../../../contract/calls.ts';
import { MAX_LIST_PAGE } from '../../../contract/limits.ts';
import { MAX_HOST_LENGTH } from '../../../contract/urls.ts';
import { api, errorText } from '../../lib/api.ts';
import { STALE_MS, usePages } from '../../lib/calls.ts';
import { downloadCsv } from '../../lib/save-file.ts';
import { paths } from '../../pages.ts';
import { Button } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { Field, Select } from '../../ui/field.tsx';
import { dayIn, Filters, SearchField } from '../../ui/filters.tsx';
import { DownloadIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { AuditRow, Rows, RowsLoading, wordsOf } from '../../ui/panels.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';

const PAGE_SIZE = 50;

/** /dashboard/activity: the audit log of the account. The address has the filter. */
export function ActivityPage() {
  const [query] = useSearchParams();
  const [, navigate] = useLocation();
  const filter = filterOf(query);
  const isFiltered = Object.values(filter).some((value) => value !== '');
  const log = usePages('auditLogs', inputOf(filter, PAGE_SIZE), PAGE_SIZE, { staleTime: STALE_MS });
  const entries = log.data;
  const show = (change: Partial<ActivityFilter>) => navigate(activityPath({ ...filter, ...change }), { replace: true });

  return (
    <>
      <div className="flex flex-wrap items-end justify-between gap-x-4 gap-y-2">
        <div>
          <PageHeading title="Activity" />
          <p className="mt-1.5 text-muted">What you changed, and your own sign-ins to this portal.</p>
        </div>
        <ExportButton filter={filter} />
      </div>
      <ActivityFilters filter={filter} onChange={show} />
      {log.error && !log.isFetchNextPageError && <Failed {...log} fallback="Your activity could not be loaded." />}
      {!entries && !log.error && <RowsLoading what="your activity" rows={6} />}
      {entries?.length === 0 && (
        <Empty
          title={isFiltered ? 'Nothing matches' : 'No recent activity'}
          text={
            isFiltered
              ? 'No entry of your activity meets all of these conditions.'
              : 'Your changes are listed here: websites, applications, keys, and your own sign-ins.'
          }
        >
          {isFiltered && (
            <Button variant="secondary" onClick={() => navigate(activityPath(filterOf(new URLSearchParams())))}>
              Show everything
            </Button>
          )}
        </Empty>
      )}
      {entries && entries.length > 0 && (
        <div aria-busy={log.isPlaceholderData} className={cx('transition-opacity', log.isPlaceholderData && 'opacity-60')}>
          <h2 className="sr-only">Entries</h2>
          <Rows>
            {entries.map((entry) => (
              <AuditRow key={entry.id} {...entry} />
            ))}
          </Rows>
          <Older log={log} />
        </div>
      )}
    </>
  );
}

function ActivityFilters({ filter, onChange }: { filter: ActivityFilter; onChange: (change: Partial<ActivityFilter>) => void }) {
  const { action, domain, from, to } = filter;
  return (
    <Filters
      className="my-6"
      active={[action, from, to].filter(Boolean).length}
      first={<SearchField label="Search by website" value={domain} onSearch={(text) => onChange({ domain: text })} />}
    >
      <Select
        label="Action"
        hideLabel
        value={action}
        options={actionGroups}
        onChange={({ target }) => onChange({ action: target.value })}
      />
      <Field
        label="From (UTC)"
        type="date"
        value={from}
        max={to || undefined}
        onChange={({ target }) => onChange({ from: target.value })}
      />
      <Field label="To (UTC)" type="date" value={to} min={from || undefined} onChange={({ target }) => onChange({ to: target.value })} />
    </Filters>
  );
}

/** Loads the next older entries, or says that there are none. */
function Older({
  log,
}: {
  log: { hasNextPage: boolean; isFetchingNextPage: boolean; isFetchNextPageError: boolean; error: unknown; fetchNextPage: () => unknown };
}) {
  return (
    <div className="mt-4 grid justify-items-center gap-3">
      {log.isFetchNextPageError && !log.isFetchingNextPage && (
        <p role="alert" className="text-sm text-danger">
          {errorText(log.error, 'The older entries could not be loaded.')}
        </p>
      )}
      {log.hasNextPage ? (
        <Button variant="secondary" busy={log.isFetchingNextPage} onClick={() => log.fetchNextPage()}>
          Show older entries
        </Button>
      ) : (
        <p className="text-sm text-muted">That is everything.</p>
      )}
    </div>
  );
}

function ExportButton({ filter }: { filter: ActivityFilter }) {
  const [busy, setBusy] = useState(false);
  const exportCsv = async () => {
    setBusy(true);
    try {
      const { entries, isComplete } = await fetchAll(filter);
      const rows = entries.map(({ createdAt, action, displayDomain, ...entry }) =>
        [createdAt, wordsOf(action), displayDomain, entry.object, entry.actor, entry.device, entry.network].map((value) => value ?? ''),
      );
      downloadCsv('activity.csv', [['time', 'action', 'website', 'object', 'by', 'device', 'network'], ...rows]);
      const count = `${entries.length.toLocaleString('en')} entries`;
      toast('Activity exported', isComplete ? count : `The newest ${count}. Choose a range of days for older ones.`);
    } catch (error) {
      toastFailure('The activity could not be exported', errorText(error, 'Try again.'));
    }
    setBusy(false);
  };
  return (
    <Button variant="secondary" small busy={busy} onClick={exportCsv}>
      {!busy && <DownloadIcon />}
      Export CSV
    </Button>
  );
}

/** What of the audit log is shown, as its address says it; an empty text: no condition. Days are UTC days, YYYY-MM-DD. */
type ActivityFilter = { action: string; domain: string; from: string; to: string };

type Entry = Output<'auditLogs'>[number];

/** More would not fit in one spreadsheet that a person reads. */
const MAX_EXPORTED = 10_000;

/** The actions that can be chosen; a value stands for all actions that begin with one of its words. */
const actionGroups = [
  { value: '', label: 'All actions' },
  { value: 'developer,device,signed_out_everywhere', label: 'Sign-ins and devices' },
  { value: 'website', label: 'Websites' },
  { value: 'member,invitation,invited,removed,role', label: 'Teams' },
  { value: 'application', label: 'Applications' },
  { value: 'api_key', label: 'API keys' },
  { value: 'connection', label: 'Connected applications' },
  { value: 'profile,organisation,branding', label: 'Settings' },
];

/** Reads the filter from an address; what is not valid there is left out. */
export function filterOf(query: URLSearchParams): ActivityFilter {
  const action = actionGroups.find(({ value }) => value === query.get('action'))?.value ?? '';
  return {
    action,
    domain: query.get('domain')?.trim().slice(0, MAX_HOST_LENGTH) ?? '',
    from: dayIn(query, 'from'),
    to: dayIn(query, 'to'),
  };
}

/** Returns the address of the page with a filter. */
export function activityPath(filter: ActivityFilter): string {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
  return query.size > 0 ? `${paths.activity}?${query}` : paths.activity;
}

/** Returns the parameters of the call. @param before the id of the entry before which the page begins */
const inputOf = (filter: ActivityFilter, limit: number, before?: string) => ({
  limit,
  before,
  ...Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== '')),
});

/** Returns the newest entries that match, for the export, and whether there may be more. */
async function fetchAll(filter: ActivityFilter): Promise<{ entries: Entry[]; isComplete: boolean }> {
  const entries: Entry[] = [];
  while (entries.length < MAX_EXPORTED) {
    const page = await api.auditLogs(inputOf(filter, MAX_LIST_PAGE, entries.at(-1)?.id));
    entries.push(...page);
    if (page.length < MAX_LIST_PAGE) return { entries, isComplete: true };
  }
  return { entries, isComplete: false };
}
