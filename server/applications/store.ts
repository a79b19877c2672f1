import type pg from 'pg';
import type { Query } from '../db/database.ts';

const HAS_FORMER_SECRET = `
select 1 from applications where id = $1 and previous_secret_hash is not null and previous_secret_until > now()`;

// A grant, and all codes and tokens that were issued with it. Access tokens in JWT format become invalid with their grant.
const END_GRANTS = `
with ended as (delete from oidc_records where kind = 'Grant' and client_id = $1 returning id)
delete from oidc_records where grant_id = any(array(select id from ended))`;

const REFUSALS = 'select id::text, at, error, description from application_refusals where client_id = $1 order by id desc limit $2';

/** A rejected request of a client, with the error code and description of the response. */
export type Refusal = { id: string; at: Date; error: string; description: string };

/** Returns whether the secret from before a rotation is still valid. @param query runs in a transaction */
export async function hasFormerSecret(query: Query, id: string): Promise<boolean> {
  return (await query(HAS_FORMER_SECRET, [id])).rows.length > 0;
}

/** Ends everything that people have granted to a client. @param query runs in a transaction */
export async function endGrantsOf(query: Query, clientId: string): Promise<void> {
  await query(END_GRANTS, [clientId]);
}

/** @param query runs in a transaction */
export async function removeRefusals(query: Query, clientId: string): Promise<void> {
  await query('delete from application_refusals where client_id = $1', [clientId]);
}

/** Returns the last rejected requests of a client, newest first. */
export async function readRefusals(core: pg.Pool, clientId: string, limit: number): Promise<Refusal[]> {
  const { rows } = await core.query<Refusal>({ name: 'application-refusals', text: REFUSALS, values: [clientId, limit] });
  return rows;
}
