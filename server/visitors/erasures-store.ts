import type pg from 'pg';
import { inTransaction } from '../db/database.ts';
import { idAt } from '../db/partitions.ts';
import { erasureHash } from './erased.ts';
import { clientHost } from './visits.ts';

/*
 * What erasing an address from a website ends. The rows are found by indexes that exist for other purposes: attempts by the time in
 * their ids (UUIDs of version 7), tokens by their expiry, grants by the address.
 */

// Locks the row first: see ADD_VISITS in roll-up.ts.
const BEGIN = 'update visitor_roll_up set erasures = erasures + 1';

const REMEMBER = `
insert into website_erasures (website, hash, at) values ($1, ${erasureHash('$1::uuid', '$2::text')}, clock_timestamp())
on conflict (website, hash) do update set at = excluded.at`;

const REMOVE_VISITOR = 'delete from website_visitors where website = $1 and email = $2';

/** Whether the client_id of a record is an origin of the domain $2. */
const IS_CLIENT = `('.' || ${clientHost('client_id')}) like '%.' || $2`;

const END_ATTEMPTS = `
with ended as (
  delete from sign_in_attempts
  where id > ${idAt("now() - interval '1 hour'")}
    and email = $1 and (domain = $2 or kind = 'oidc' and ${IS_CLIENT})
  returning id
)
delete from outbox using ended where outbox.id = ended.id`;

// The second condition has an index.
const END_TOKENS = `
delete from tokens where expires_at > now() and (expires_at at time zone 'UTC') > (now() at time zone 'UTC') and domain = $2 and email = $1`;

const END_GRANTS = `
with ended as (delete from oidc_records where email = $1 and kind = 'Grant' and ${IS_CLIENT} returning id)
delete from oidc_records using ended where grant_id = ended.id`;

const AUDIT = "insert into audit_log (action, email, domain) values ('visitor_erased', $1, $2)";

/**
 * Erases an address from a website: it leaves the list of visitors, what is shown of earlier events is shown without it, and its pending
 * sign-ins, unused tokens and grants of OpenID Connect at this website end.
 * @param erasure.by the account that erases it
 */
export function eraseFromWebsite(core: pg.Pool, erasure: { website: string; domain: string; email: string; by: string }): Promise<void> {
  const { website, domain, email, by } = erasure;
  return inTransaction(core, async (query) => {
    await query('visitors-erase-begin', BEGIN, []);
    await query('visitors-erase-remember', REMEMBER, [website, email]);
    await query('visitors-erase', REMOVE_VISITOR, [website, email]);
    await query('visitors-erase-attempts', END_ATTEMPTS, [email, domain]);
    await query('visitors-erase-tokens', END_TOKENS, [email, domain]);
    await query('visitors-erase-grants', END_GRANTS, [email, domain]);
    await query('visitors-erase-audit', AUDIT, [by, domain]);
  });
}
