import type { Transaction } from 'sequelize';
import { Fault } from '../../contract/errors.ts';
import { MAX_UNPROVEN_WEBSITES } from '../../contract/limits.ts';
import type { Database, Query } from '../db/database.ts';

const LOCK = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
const COUNT = `select count(*)::int as count from websites
  where email = $1 and proven_at is null and (claimed_at is not null or not $2) and id is distinct from $3::uuid`;

/**
 * Checks that an address may have one more unproven website, and makes other transactions that check the same wait for the end of
 * this one, so that the number is exact.
 * @param options.onlyClaimed counts only websites that the owner added or confirmed: strangers, who can register domains to any
 * address, must not use up what its owner may add
 * @param options.except id of a website that does not count, since it is the one that changes
 * @throws Fault too_many
 */
export async function checkUnprovenLimit(query: Query, email: string, options: { onlyClaimed: boolean; except?: string }): Promise<void> {
  await query(LOCK, [`unproven websites ${email}`]);
  const { rows } = await query(COUNT, [email, options.onlyClaimed, options.except ?? null]);
  const [{ count }] = rows as { count: number }[];
  if (count < MAX_UNPROVEN_WEBSITES) return;
  const message = `There are ${MAX_UNPROVEN_WEBSITES} websites with an unproven domain for this address, as many as it may have. Prove a domain, or delete one of them.`;
  throw new Fault('too_many', { message });
}

/**
 * Adds or moves a website of somebody signed in, after `checkUnprovenLimit` in the same transaction.
 * @param owner.moved id of the website that is moved
 * @throws Fault too_many
 */
export async function withinUnprovenLimit<Result>(
  database: Pick<Database, 'orm'>,
  owner: { email: string; moved?: string },
  change: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const orm = await database.orm();
  return orm.transaction(async (transaction) => {
    const query: Query = async (text, values) => ({ rows: (await orm.query(text, { bind: values, transaction }))[0] });
    await checkUnprovenLimit(query, owner.email, { onlyClaimed: true, except: owner.moved });
    return change(transaction);
  });
}
