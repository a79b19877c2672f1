import { useEffect, useRef, useState } from 'react';
import { MAX_LOG_EXPORT } from '../../../contract/limits.ts';
import { errorText } from '../../lib/api.ts';
import { downloadCsv } from '../../lib/csv.ts';
import { Button } from '../../ui/button.tsx';
import { toast, toastFailure } from '../../ui/toast.tsx';
import type { LiveEvent } from './live-events.ts';
import { loadForExport } from './log-data.ts';
import type { LogFilters } from './log-filters.ts';
import type { Website } from './queries.ts';

const HEAD = ['time', 'step', 'reason', 'email', 'count', 'text', 'fix'];
const rowOf = ({ at, kind, reason, email, count, text, fix }: LiveEvent) => [at, kind, reason ?? '', email ?? '', count, text, fix ?? ''];

/** Saves the rows that the filters leave as a CSV file. A second click cancels. */
export function LogExport({ website, filters }: { website: Website; filters: LogFilters }) {
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
