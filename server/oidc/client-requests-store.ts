import type { Database } from '../db/database.ts';

/** Rejected requests that are kept of each client. */
const KEPT = 100;

// The subquery sees the table without the new row.
const ADD = `
with added as (insert into application_refusals (client_id, error, description) values ($1, $2, $3))
delete from application_refusals where client_id = $1
  and id <= (select id from application_refusals where client_id = $1 order by id desc offset ${KEPT - 1} limit 1)`;

const EXCHANGED = "insert into audit_log (action, client_id, email) values ('code_exchanged', $1, $2)";

/** Adds to the audit log that a client got the tokens of a person. */
export async function addExchange(core: Database['core'], clientId: string, email: string): Promise<void> {
  await core.query({ name: 'oidc-exchange', text: EXCHANGED, values: [clientId, email] });
}

/** Adds a rejected request of a client, and removes the oldest one beyond the number that is kept. */
export async function addRefusal(core: Database['core'], clientId: string, error: string, description: string): Promise<void> {
  await core.query({ name: 'oidc-refusal', text: ADD, values: [clientId, error, description] });
}
