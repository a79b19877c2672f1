import type { Query } from '../jobs/store.ts';
import { advance, beginExport, nextRows } from './store.ts';
import { formatMessage, sendMessages } from './syslog.ts';

/** The name of the cursor in the database. */
const DESTINATION = 'syslog';
const BATCH_ROWS = 500;

/**
 * Sends the rows of the audit log that were not sent yet to a syslog server, in order. The cursor in the database moves after the
 * server has received a batch, so that every row arrives at least once, also after a failure or a restart.
 * @param options.url `tcp://host:port` or `tls://host:port`
 * @param options.host the host name of the service, in each message
 * @param options.maxMs how long it may take; the next run continues
 * @throws Error when the server cannot be reached or does not confirm a batch
 */
export async function exportAudit(
  query: Query,
  { url, host, signal, maxMs }: { url: string; host: string; signal: AbortSignal; maxMs: number },
): Promise<void> {
  const end = Date.now() + maxMs;
  await beginExport(query, DESTINATION);
  while (!signal.aborted && Date.now() < end) {
    const rows = await nextRows(query, DESTINATION, BATCH_ROWS);
    const last = rows.at(-1);
    if (!last) return;
    await sendMessages(
      url,
      rows.map((row) => formatMessage(row, host)),
    );
    await advance(query, DESTINATION, last.id);
    if (rows.length < BATCH_ROWS) return;
  }
}
