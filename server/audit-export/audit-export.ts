import type { Config } from '../config.ts';
import { type AuditRow, advance, begin, type ExportQuery, lock, readRows, unlock } from './store.ts';
import { formatMessage, sendMessages } from './syslog.ts';
import { postRows } from './webhook.ts';

/** How long a receiver may take for a batch. */
const SEND_MS = 10_000;
/** Longer than a batch may take; after it, another instance sends the rows of one that was killed or is frozen. */
const LOCK_MS = 30_000;

/** A receiver of the audit log. */
export type Destination = {
  /** The name of its cursor in the database. */
  name: 'syslog' | 'webhook';
  setting: string;
  /** For the log, without path and query, which may contain a secret. */
  address: string;
  maxRows: number;
  /** Resolves when the receiver has all rows. */
  send(rows: readonly AuditRow[], signal: AbortSignal): Promise<void>;
};

/** Returns the receivers of the audit log that the settings name. */
export function destinationsOf({
  auditSyslogUrl,
  auditWebhook,
  publicUrl,
}: Pick<Config, 'auditSyslogUrl' | 'auditWebhook' | 'publicUrl'>): Destination[] {
  const destinations: Destination[] = [];
  const { hostname } = new URL(publicUrl);
  if (auditSyslogUrl)
    destinations.push({
      name: 'syslog',
      setting: 'AUDIT_SYSLOG_URL',
      address: auditSyslogUrl,
      maxRows: 500,
      send: (rows, signal) =>
        sendMessages(
          auditSyslogUrl,
          rows.map((row) => formatMessage(row, hostname)),
          signal,
        ),
    });
  if (auditWebhook)
    destinations.push({
      name: 'webhook',
      setting: 'AUDIT_WEBHOOK_URL',
      address: new URL(auditWebhook.url).origin,
      maxRows: 100,
      send: (rows, signal) => postRows(auditWebhook, rows, signal),
    });
  return destinations;
}

/** Begins the export to destinations that are new: their first row is the next one that the audit log gets. */
export async function beginExports(query: ExportQuery, destinations: readonly Destination[]): Promise<void> {
  for (const { name } of destinations) await begin(query, name);
}

/**
 * Sends the rows of the audit log that a destination does not have yet, in order. The cursor in the database moves after the receiver
 * has accepted a batch, so that every row arrives at least once. Any number of instances may do so at once: one of them sends.
 * @param options.signal aborts it; the next run sends the batch again
 * @param options.maxMs after it, no other batch is sent; the next run continues
 * @throws Error when the receiver did not accept a batch
 */
export async function exportAudit(
  query: ExportQuery,
  destination: Destination,
  { signal, maxMs }: { signal: AbortSignal; maxMs: number },
): Promise<void> {
  const { name, maxRows } = destination;
  const end = Date.now() + maxMs;
  while (!signal.aborted && Date.now() < end) {
    const span = await lock(query, name, LOCK_MS);
    if (!span) return;
    const rows = await readRows(query, span, maxRows);
    const isFull = rows.length === maxRows;
    try {
      if (rows.length > 0) await destination.send(rows, AbortSignal.any([signal, AbortSignal.timeout(SEND_MS)]));
    } catch (error) {
      await unlock(query, name, span).catch(() => {});
      if (signal.aborted) return;
      throw notSent(destination, error as Error);
    }
    await advance(query, name, { after: span.after, upTo: isFull ? rows[maxRows - 1].id : span.upTo });
    if (!isFull) return;
  }
}

/** Returns the error for the log. Node.js puts the reason of a failed `fetch` or aborted socket into `cause`. */
function notSent({ address, setting }: Destination, error: Error & { code?: string }): Error {
  const { name, message, code } = (error.cause ?? error) as typeof error;
  const reason = name === 'TimeoutError' ? `it did not accept a batch within ${SEND_MS / 1_000} s` : message || code;
  const remedy = `Check ${setting} and the receiver; the rows are sent again within a minute.`;
  return new Error(`The audit log was not sent to ${address}: ${reason}. ${remedy}`, { cause: error });
}
