import type { Sequelize, Transaction } from 'sequelize';
import { Fault } from '../../contract/errors.ts';
import { MAX_UNPROVEN_WEBSITES } from '../../contract/limits.ts';
import type { Query } from '../db/database.ts';

const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
const COUNT = `select count(*)::int as count from websites
  where email = $1 and proven_at is null and (claimed_at is not null or not $2) and id is distinct from $3::uuid`;

const REGISTER = `
with website as (
  insert into websites (id, domain, email) values ($1, $2, $3) on conflict (domain) do nothing returning email, domain
)
insert into audit_log (action, email, domain) select 'website_registered', email, domain from website returning id`;

// Websites are locked before claims, as in every other transaction, so that no two of them deadlock.
const RELEASE = `
with website as (
  delete from websites where ctid = any(array(
    select ctid from websites where claimed_at is null and email is not null and created_at < now() - make_interval(days => $1)
    order by created_at limit $2 for update skip locked))
  returning email, domain
),
audit as (insert into audit_log (action, email, domain) select 'website_released', email, domain from website),
ended_claims as (delete from domain_claims c using website where c.email = website.email and c.domain = website.domain)
select count(*)::int from website`;

/**
 * Checks that an address may have one more unproven website. Other transactions that check the same wait for the end of this one, so
 * that the number is exact.
 * @param query runs in a transaction
 * @param options.onlyClaimed counts only websites that the owner added or confirmed: anyone can register domains to any address, which
 * must not use up what its owner may add
 * @param options.except id of a website that is not counted, because it is being changed
 * @throws Fault too_many
 */
export async function checkUnprovenLimit(query: Query, email: string, options: { onlyClaimed: boolean; except?: string }): Promise<void> {
  await query(LOCK, [`unproven websites ${email}`]);
  const { rows } = await query(COUNT, [email, options.onlyClaimed, options.except ?? null]);
  const [{ count }] = rows as { count: number }[];
  if (count < MAX_UNPROVEN_WEBSITES) return;
  const message = `There are ${MAX_UNPROVEN_WEBSITES} websites with an unproven domain for this address, the maximum. Prove a domain, or delete one of them.`;
  throw new Fault('too_many', { message });
}

/** Returns the `query` of a transaction of the models. */
export function queryOf(sequelize: Sequelize, transaction: Transaction): Query {
  return async (text, values) => ({ rows: (await sequelize.query(text, { bind: values, transaction }))[0] });
}

/** Adds a website on probation. @param query runs in a transaction @returns false when the domain is taken */
export async function registerWebsite(query: Query, website: { id: string; domain: string; email: string }): Promise<boolean> {
  const { id, domain, email } = website;
  return (await query(REGISTER, [id, domain, email])).rows.length === 1;
}

/** Deletes websites whose linked address never signed in. @param query a connection of the timed jobs @returns how many of at most `limit` */
export async function releaseUnclaimed(query: Query, afterDays: number, limit: number): Promise<number> {
  const { rows } = await query(RELEASE, [afterDays, limit]);
  return (rows[0] as { count: number }).count;
}
