import type { Writable } from 'node:stream';
import type { JobQuery } from '../../platform/db/database.ts';
import { METHOD_NAME, SHOWN_ACTION } from '../../platform/db/method-rows.ts';
import type { Log } from '../../platform/log.ts';
import type { Job } from '../../platform/platform.ts';

const MAX_ROWS = 500;
/** Longer than the time between two renewals; after it, another instance prints the rows of one that was killed or is frozen. */
const LOCK_MS = 30_000;
const RENEW_MS = 10_000;
/** PIPE_BUF of Linux: a pipe takes a write of at most so many bytes as a whole, whatever else writes to it (POSIX.1-2024, write). */
const MAX_WRITE_BYTES = 4_096;

/** Returns the job that exports the audit log to stdout. */
export function createAuditExport(log: Log): Job {
  // Each write reports its own error; without a listener, one would end the process.
  process.stdout.on('error', () => {});
  const onWait = () => log.warn('the audit log waits until what reads stdout continues to read');
  return {
    name: 'export-audit',
    minute: null,
    prepare: (query) => query(BEGIN_EXPORT),
    run: (query, limits) => exportAuditLog(query, process.stdout, { ...limits, onWait }),
  };
}

/**
 * Prints the rows of the audit log that were not printed yet, in order, as lines of JSON. The cursor in the database moves after
 * `output` has accepted a batch. Any number of instances may do so at once: one of them prints. While the reader of `output` does not
 * read, it waits and keeps the lock.
 * @param options.signal ends it after a batch
 * @param options.maxMs after it, no other batch is printed; the next run continues
 * @param options.onWait called once for a batch for which it waits
 * @throws Error when `output` did not accept a batch, which the next run prints again
 */
export async function exportAuditLog(
  query: JobQuery,
  output: Writable,
  { signal, maxMs, onWait }: { signal: AbortSignal; maxMs: number; onWait: () => void },
): Promise<void> {
  const end = Date.now() + maxMs;
  while (!signal.aborted && Date.now() < end) {
    const { rows: spans } = await query<Span>(LOCK, [LOCK_MS]);
    if (spans.length === 0) return;
    const [{ after, upTo }] = spans;
    const { rows } = await query<AuditRow>(ROWS, [after, upTo, MAX_ROWS]);
    let isWaiting = false;
    const renewal = setInterval(() => {
      if (!isWaiting) onWait();
      isWaiting = true;
      // The next one tries again; without any, another instance prints the rows.
      query(RENEW, [after, LOCK_MS]).catch(() => {});
    }, RENEW_MS);
    try {
      await print(output, rows);
    } catch (error) {
      await query(UNLOCK, [after]).catch(() => {});
      const { code, message } = error as NodeJS.ErrnoException;
      const remedy = 'Check what reads it, and restart the service with a new reader.';
      throw new Error(`The audit log was not printed to stdout: ${code ?? message}. ${remedy}`, { cause: error });
    } finally {
      clearInterval(renewal);
    }
    const isFull = rows.length === MAX_ROWS;
    await query(ADVANCE, [after, isFull ? rows[MAX_ROWS - 1].id : upTo]);
    if (!isFull) return;
  }
}

/** Prints rows as lines of JSON, whole lines in each write. @throws Error of the stream; then a part of the rows may be printed */
async function print(output: Writable, rows: readonly AuditRow[]): Promise<void> {
  let text = '';
  for (const row of rows) {
    const line = `${JSON.stringify({ log: 'activity', ...row }, (_, value) => value ?? undefined)}\n`;
    if (text && Buffer.byteLength(text) + Buffer.byteLength(line) > MAX_WRITE_BYTES) {
      await write(output, text);
      text = '';
    }
    text += line;
  }
  if (text) await write(output, text);
}

/** Resolves when the system has taken the text. */
function write(output: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** A row of the audit log. `id` is a decimal number. */
type AuditRow = { id: string };

/** The rows that an instance may print: those after one number, up to another one. Decimal numbers. */
type Span = { after: string; upTo: string };

/**
 * Begins the export, unless it has begun: its first row is the next one that the audit log gets. The statistics have counted the rows up to
 * roll_up.last_audit_id, so that no transaction can add one before it any more.
 */
export const BEGIN_EXPORT = `
insert into audit_export (last_audit_id) select last_audit_id from roll_up on conflict do nothing`;

const LOCK = `
update audit_export set locked_until = now() + $1 * interval '1 millisecond'
from roll_up
where audit_export.last_audit_id < roll_up.last_audit_id and (locked_until is null or locked_until < now())
returning audit_export.last_audit_id::text as after, roll_up.last_audit_id::text as "upTo"`;

const RENEW = "update audit_export set locked_until = now() + $2 * interval '1 millisecond' where last_audit_id = $1";

// Unqualified, `id` would be the text in the result.
const ROWS = `
select id::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, ${SHOWN_ACTION} as action, email, domain, client_id,
  seconds, ${METHOD_NAME} as method, actor, object, device, network
from audit_log where id > $1 and id <= $2 order by audit_log.id limit $3`;

// The cursor moves only from where the batch began, so that an instance whose lock has expired cannot move it again.
const ADVANCE = `
update audit_export set last_audit_id = $2, printed_at = now(), locked_until = null
where last_audit_id = $1`;

const UNLOCK = 'update audit_export set locked_until = null where last_audit_id = $1';
