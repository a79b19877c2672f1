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

/** A row of the audit log; fields without a value are left out. `id` is a decimal number. */
export type AuditRow = {
  id: string;
  at: string;
  action: string;
  email?: string;
  domain?: string;
  client_id?: string;
  seconds?: number;
};

/** The rows that an instance may send: those after one number, up to another one. Decimal numbers. */
export type Span = { after: string; upTo: string };

/** Runs one statement. */
type ExportQuery = <Row extends object>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;

// The statistics have counted the rows up to roll_up.last_audit_id, so that no transaction can add one before it any more.
const BEGIN = `
insert into audit_exports (destination, last_audit_id) select $1, last_audit_id from roll_up
on conflict (destination) do nothing`;

const LOCK = `
update audit_exports set locked_until = now() + $2 * interval '1 millisecond'
from roll_up
where destination = $1 and audit_exports.last_audit_id < roll_up.last_audit_id and (locked_until is null or locked_until < now())
returning audit_exports.last_audit_id::text as after, roll_up.last_audit_id::text as "upTo"`;

// Unqualified, `id` would be the text in the result.
const ROWS = `
select id::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, action, email, domain, client_id, seconds
from audit_log where id > $1 and id <= $2 order by audit_log.id limit $3`;

// The cursor moves only from where the batch began, so that an instance whose lock has expired cannot move it again.
const ADVANCE = `
update audit_exports set last_audit_id = $3, exported_at = now(), locked_until = null
where destination = $1 and last_audit_id = $2`;

const UNLOCK = 'update audit_exports set locked_until = null where destination = $1 and last_audit_id = $2';

/** Begins the export to a destination after the newest row in the totals, unless it has begun. */
async function begin(query: ExportQuery, destination: string): Promise<void> {
  await query(BEGIN, [destination]);
}

/** Locks the export to a destination for `lockMs`. @returns null when there are no new rows or another instance sends them */
async function lock(query: ExportQuery, destination: string, lockMs: number): Promise<Span | null> {
  return (await query<Span>(LOCK, [destination, lockMs])).rows[0] ?? null;
}

/** Returns the first rows of a span, in the order of their ids. */
async function readRows(query: ExportQuery, { after, upTo }: Span, maxRows: number): Promise<AuditRow[]> {
  const { rows } = await query<AuditRow>(ROWS, [after, upTo, maxRows]);
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as AuditRow);
}

/** Records that a destination has all rows of a span, and unlocks the export. */
async function advance(query: ExportQuery, destination: string, { after, upTo }: Span): Promise<void> {
  await query(ADVANCE, [destination, after, upTo]);
}

/** Unlocks the export to a destination whose cursor has not moved. */
async function unlock(query: ExportQuery, destination: string, { after }: Span): Promise<void> {
  await query(UNLOCK, [destination, after]);
}
