import type { Query } from '../jobs/store.ts';

/** A row of the audit log. `id` is a decimal number. */
export type AuditRow = {
  id: string;
  at: string;
  action: string;
  email: string | null;
  domain: string | null;
  client_id: string | null;
  seconds: number | null;
};

// The statistics have counted the rows up to roll_up.last_audit_id, so that no transaction can add one before it any more.
const BEGIN = `
insert into audit_exports (destination, last_audit_id) select $1, last_audit_id from roll_up
on conflict (destination) do nothing`;

const NEXT = `
select id::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, action, email, domain, client_id, seconds
from audit_log
where id > (select last_audit_id from audit_exports where destination = $1) and id <= (select last_audit_id from roll_up)
order by id limit $2`;

const ADVANCE = `
update audit_exports set last_audit_id = $2, exported_at = now() where destination = $1 and last_audit_id < $2`;

/** Begins the export to a destination after the newest row, unless it has begun. */
export async function beginExport(query: Query, destination: string): Promise<void> {
  await query(BEGIN, [destination]);
}

/** Returns the next rows that were not exported to a destination, in the order of their ids. */
export async function nextRows(query: Query, destination: string, limit: number): Promise<AuditRow[]> {
  return (await query<AuditRow>(NEXT, [destination, limit])).rows;
}

/** Records that a destination has all rows up to one. */
export async function advance(query: Query, destination: string, lastId: string): Promise<void> {
  await query(ADVANCE, [destination, lastId]);
}
