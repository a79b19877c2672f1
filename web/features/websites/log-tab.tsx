import { useInfiniteQuery } from '@tanstack/react-query';
import { type FocusEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import type { Output } from '../../../contract/calls.ts';
import { MAX_LOG_DAYS, MAX_LOG_EXPORT } from '../../../contract/limits.ts';
import { api, errorText } from '../../lib/api.ts';
import { downloadCsv } from '../../lib/save-file.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Alert, Empty } from '../../ui/states.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import { type LiveEvent, LiveState, useLiveEvents } from './live-events.tsx';
import { LogFilterForm, type LogFilters, parametersOf, passes, queryOf, useLogFilters } from './log-filters.tsx';
import { type SignIn, SignInRow, signInsOf, summaryOf } from './sign-ins.tsx';
import type { TabProps, Website } from './website.ts';

/** The sign-ins at a website with their steps, newest first: live, and as far back as they are kept. The URL has the filters. */
export function LogTab({ website }: TabProps) {
  const [filters, setFilters] = useLogFilters();
  return (
    <>
      <h2 className="sr-only">Log</h2>
      <LogFilterForm filters={filters} onChange={setFilters} />
      {!website.verified && (
        <p className="mt-3 text-sm text-muted">
          Addresses are masked until the domain is verified, and the address filter applies to what is shown.
        </p>
      )}
      <LogRows key={JSON.stringify(filters)} website={website} filters={filters} />
    </>
  );
}

function LogRows({ website, filters }: { website: Website; filters: LogFilters }) {
  const [paused, setPaused] = useState(false);
  const log = useLog(website, filters);
  const { events: live, error } = useLiveEvents(website.domain, paused, log.latest);
  const now = Date.now();
  const isFiltered = Object.keys(parametersOf(filters)).length > 0;
  const { later, earlier } = signInsOf(log.events, live, isFiltered);
  const held = useHeldRows(later.filter(({ steps }) => passes(steps, filters, now)));
  const signIns = [...held.shown, ...earlier];
  return (
    <>
      <div className="mt-4 mb-3 flex flex-wrap items-center justify-between gap-3">
        <LiveState paused={paused} failed={Boolean(error)} />
        <div className="flex flex-wrap gap-2">
          {held.waiting > 0 && (
            <Button variant="secondary" onClick={held.show}>
              Show {held.waiting} new
            </Button>
          )}
          <Button variant="secondary" className="min-w-24" onClick={() => setPaused(!paused)}>
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <LogExport website={website} filters={filters} />
        </div>
      </div>
      {!log.isLoaded && !log.error && <RowsLoading what="the log" rows={6} />}
      {log.isLoaded && !log.isSearching && signIns.length === 0 && <NothingFound isFiltered={isFiltered} />}
      {signIns.length > 0 && (
        <ol aria-label="Sign-ins" {...held.events} className="divide-y divide-line rounded-panel border border-line bg-panel">
          {signIns.map((signIn) => (
            <SignInRow key={signIn.key} signIn={signIn} now={now} />
          ))}
        </ol>
      )}
      <p role="status" className="sr-only">
        <News event={live[live.length - 1]} signIns={signIns} now={now} />
      </p>
      <LogEnd log={log} count={signIns.length} />
    </>
  );
}

/** What the newest event has changed in the rows, for screen readers. */
function News({ event, signIns, now }: { event: LiveEvent | undefined; signIns: SignIn[]; now: number }) {
  const changed = event && signIns.find(({ key }) => key === (event.signIn ?? event.id));
  if (!changed) return null;
  const { label, email } = summaryOf(changed, now);
  return [email, label].filter(Boolean).join(': ');
}

/**
 * Keeps new rows back while the pointer is over the list or the focus in it, so that no row moves there.
 * @param rows newest first
 */
function useHeldRows(rows: SignIn[]) {
  const [before, setBefore] = useState<ReadonlySet<string> | null>(null);
  const hold = () => setBefore((held) => held ?? new Set(rows.map(({ key }) => key)));
  const release = () => setBefore(null);
  const shown = before ? rows.filter(({ key }) => before.has(key)) : rows;
  return {
    shown,
    waiting: rows.length - shown.length,
    show: release,
    events: {
      onPointerEnter: ({ pointerType }: PointerEvent) => pointerType === 'mouse' && hold(),
      onPointerLeave: ({ currentTarget }: PointerEvent) => !currentTarget.contains(document.activeElement) && release(),
      onFocus: hold,
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) =>
        !currentTarget.contains(relatedTarget) && !currentTarget.matches(':hover') && release(),
    },
  };
}

/** What follows the rows: how far the search is, more rows, or why there are none. */
function LogEnd({ log, count }: { log: ReturnType<typeof useLog>; count: number }) {
  if (log.error)
    return (
      <div className="mt-4 grid gap-3">
        <Alert>{errorText(log.error, 'The log could not be loaded.')}</Alert>
        <Button variant="secondary" className="justify-self-start" busy={log.isFetching} onClick={log.retry}>
          Try again
        </Button>
      </div>
    );
  if (!log.isLoaded) return null;
  return (
    <div role="status" className="mt-4 flex min-h-11 flex-wrap items-center gap-3 text-sm text-muted">
      {log.isSearching && (
        <>
          <Spinner />
          Searching{log.searchedTo && ` before ${moment(log.searchedTo)}`}…
        </>
      )}
      {!log.isSearching && log.hasMore && (
        <Button variant="secondary" onClick={log.showMore}>
          Show earlier sign-ins
        </Button>
      )}
      {!log.isSearching && !log.hasMore && count > 0 && log.searchedTo && (
        <>The log begins here. Sign-ins are kept for {MAX_LOG_DAYS} days; emails, codes and rejected links or tokens for 7.</>
      )}
    </div>
  );
}

const moment = (time: string) => new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

function NothingFound({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No sign-ins found" text="No sign-in matches these filters. Another state or a longer period may." />;
  return (
    <Empty
      title="No sign-ins yet"
      text="Open the sign-in page and sign in as a visitor would: each step appears here, with what to change if it fails."
    />
  );
}

const HEAD = ['time', 'step', 'reason', 'email', 'count', 'text', 'fix'];
const rowOf = ({ at, kind, reason, email, count, text, fix }: LiveEvent) => [at, kind, reason ?? '', email ?? '', count, text, fix ?? ''];

/** Saves the rows that the filters leave as a CSV file. A second click cancels. */
function LogExport({ website, filters }: { website: Website; filters: LogFilters }) {
  const [rows, setRows] = useState<number | null>(null);
  const stop = useRef<AbortController | null>(null);
  useEffect(() => () => stop.current?.abort(), []);

  const save = async () => {
    const own = new AbortController();
    stop.current = own;
    setRows(0);
    try {
      const { events, isWhole } = await loadForExport(website, filters, own.signal, setRows);
      downloadCsv(`sign-ins-${website.domain}.csv`, [HEAD, ...events.map(rowOf)]);
      const text = `${events.length.toLocaleString('en')} ${events.length === 1 ? 'row' : 'rows'}`;
      toast('Log exported', isWhole ? text : `The newest ${text}, the most in one file. Choose a period for earlier ones.`);
    } catch (error) {
      if (!own.signal.aborted) toastFailure('The log was not exported', errorText(error, 'Try again.'));
    } finally {
      setRows(null);
    }
  };

  return (
    <>
      {rows === null ? (
        <Button variant="secondary" title={`The newest ${MAX_LOG_EXPORT.toLocaleString('en')} rows at most`} onClick={save}>
          Export CSV
        </Button>
      ) : (
        <Button variant="secondary" onClick={() => stop.current?.abort()}>
          Cancel export
        </Button>
      )}
      <span role="status" className="sr-only">
        {rows !== null && `Exporting, ${rows.toLocaleString('en')} rows`}
      </span>
    </>
  );
}

type Page = Output<'websiteLog'>;

/** Sign-ins that are loaded before the page waits for the person. */
const SCREENFUL = 50;

/** Loads the sign-ins page by page. One call may return few rows or none, so calls follow until there is a screenful or the log ends. */
function useLog({ id }: Website, filters: LogFilters) {
  const [wanted, setWanted] = useState(SCREENFUL);
  const query = useInfiniteQuery({
    queryKey: ['websiteLog', 'pages', id, filters],
    queryFn: ({ pageParam, signal }) => api.websiteLog({ id, ...queryOf(filters), by: 'sign_in', before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }: Page) => cursor ?? undefined,
    // The live events begin at the newest event of the first page.
    gcTime: 0,
  });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const events = data?.pages.flatMap((page) => page.events) ?? [];
  const count = new Set(events.map(({ id, signIn }) => signIn ?? id)).size;
  const isSearching = hasNextPage && !isError && count < wanted;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return {
    events,
    latest: data?.pages[0].latest ?? undefined,
    /** All events since this time are loaded. */
    searchedTo: data?.pages.at(-1)?.searchedTo,
    isLoaded: data !== undefined,
    isSearching,
    hasMore: hasNextPage,
    error: query.error,
    showMore: () => setWanted(count + SCREENFUL),
    retry: () => (data ? fetchNextPage() : query.refetch()),
    isFetching,
  };
}

/**
 * Loads up to MAX_LOG_EXPORT rows of the log, newest first.
 * @param onProgress receives how many are loaded
 * @returns `isWhole`: there are no earlier ones
 */
async function loadForExport(
  { id }: Website,
  filters: LogFilters,
  signal: AbortSignal,
  onProgress: (rows: number) => void,
): Promise<{ events: LiveEvent[]; isWhole: boolean }> {
  const events: LiveEvent[] = [];
  const query = queryOf(filters);
  // Only whole sign-ins have a state and a method.
  const by = query.state || query.method ? 'sign_in' : 'event';
  let before: string | undefined;
  for (;;) {
    const page: Page = await api.websiteLog({ id, ...query, by, before }, { signal });
    events.push(...page.events);
    onProgress(Math.min(events.length, MAX_LOG_EXPORT));
    if (page.cursor === null || events.length >= MAX_LOG_EXPORT)
      return { events: events.slice(0, MAX_LOG_EXPORT), isWhole: page.cursor === null && events.length <= MAX_LOG_EXPORT };
    before = page.cursor;
  }
}
