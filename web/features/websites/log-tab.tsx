import { useState } from 'react';
import { Link } from 'wouter';
import { MAX_LOG_DAYS } from '../../../contract/limits.ts';
import { errorText } from '../../lib/api.ts';
import { websitePath } from '../../paths.ts';
import { Button, ButtonLink, Spinner } from '../../ui/button.tsx';
import { RowsLoading } from '../../ui/panels.tsx';
import { Alert, Empty } from '../../ui/states.tsx';
import { EventRow } from './event-row.tsx';
import { LiveState } from './live-state.tsx';
import { useLaterEvents, useLog } from './log-data.ts';
import { LogExport } from './log-export.tsx';
import { LogFilterForm } from './log-filter-form.tsx';
import { type LogFilters, parametersOf, useLogFilters } from './log-filters.ts';
import type { TabProps, Website } from './queries.ts';

/** The steps of the sign-ins at a website, newest first: live, and as far back as they are kept. The URL has the filters. */
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
  const { later, error } = useLaterEvents(website, filters, log.latest, paused);
  const isEmpty = log.isLoaded && !log.isSearching && later.length + log.events.length === 0;
  return (
    <>
      <div className="mt-4 mb-3 flex flex-wrap items-center justify-between gap-3">
        <LiveState paused={paused} failed={Boolean(error)} />
        <div className="flex flex-wrap gap-2">
          <Button variant="secondary" className="min-w-24" onClick={() => setPaused(!paused)}>
            {paused ? 'Resume' : 'Pause'}
          </Button>
          <LogExport website={website} filters={filters} />
        </div>
      </div>
      {!log.isLoaded && !log.error && <RowsLoading what="the log" rows={6} />}
      {isEmpty && <NothingFound domain={website.domain} isFiltered={Object.keys(parametersOf(filters)).length > 0} />}
      {later.length + log.events.length > 0 && (
        <div className="rounded-panel border border-line bg-panel">
          {/* Screen readers read new rows when they are idle, and not the earlier ones that are loaded. */}
          <div role="log" aria-label="New steps">
            <ol className="divide-y divide-line">
              {later.map((event) => (
                <EventRow key={event.id} event={event} withDomain={false} />
              ))}
            </ol>
          </div>
          <ol
            aria-label="Earlier steps"
            className={later.length > 0 ? 'divide-y divide-line border-t border-line' : 'divide-y divide-line'}
          >
            {log.events.map((event) => (
              <EventRow key={event.id} event={event} withDomain={false} />
            ))}
          </ol>
        </div>
      )}
      <LogEnd log={log} />
    </>
  );
}

/** What follows the rows: how far the search is, more rows, or why there are none. */
function LogEnd({ log }: { log: ReturnType<typeof useLog> }) {
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
          Show earlier steps
        </Button>
      )}
      {!log.isSearching && !log.hasMore && log.events.length > 0 && log.searchedTo && (
        <>The log begins here. Sign-ins are kept for {MAX_LOG_DAYS} days; emails, codes and rejected links or tokens for 7.</>
      )}
    </div>
  );
}

const moment = (time: string) => new Date(time).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' });

function NothingFound({ domain, isFiltered }: { domain: string; isFiltered: boolean }) {
  if (isFiltered)
    return <Empty title="No steps found" text="No step of a sign-in matches these filters. Another status or a longer period may." />;
  return (
    <Empty
      title="No sign-ins yet"
      text="Sign in to your website as a visitor would: each step appears here, with what to change if it fails."
    >
      <ButtonLink as={Link} href={`${websitePath(domain, 'settings')}#test`} variant="secondary">
        Test sign-in
      </ButtonLink>
    </Empty>
  );
}
