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
export type ExportQuery = <Row extends object>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;

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

// Only the instance that moves the cursor first continues, also after its lock has expired.
const ADVANCE = `
update audit_exports set last_audit_id = $3, exported_at = now(), locked_until = null
where destination = $1 and last_audit_id = $2`;

const UNLOCK = 'update audit_exports set locked_until = null where destination = $1 and last_audit_id = $2';

/** Begins the export to a destination after the newest row in the totals, unless it has begun. */
export async function begin(query: ExportQuery, destination: string): Promise<void> {
  await query(BEGIN, [destination]);
}

/** Locks the export to a destination for `lockMs`. @returns null when there are no new rows or another instance sends them */
export async function lock(query: ExportQuery, destination: string, lockMs: number): Promise<Span | null> {
  return (await query<Span>(LOCK, [destination, lockMs])).rows[0] ?? null;
}

/** Returns the first rows of a span, in the order of their ids. */
export async function readRows(query: ExportQuery, { after, upTo }: Span, maxRows: number): Promise<AuditRow[]> {
  const { rows } = await query<AuditRow>(ROWS, [after, upTo, maxRows]);
  return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as AuditRow);
}

/** Records that a destination has all rows of a span, and unlocks the export. */
export async function advance(query: ExportQuery, destination: string, { after, upTo }: Span): Promise<void> {
  await query(ADVANCE, [destination, after, upTo]);
}

/** Unlocks the export to a destination whose cursor has not moved. */
export async function unlock(query: ExportQuery, destination: string, { after }: Span): Promise<void> {
  await query(UNLOCK, [destination, after]);
}
