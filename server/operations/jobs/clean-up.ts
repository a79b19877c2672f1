import { MAX_STATS_DAYS, VISITOR_DAYS } from '../../../contract/limits.ts';
import type { JobQuery } from '../../platform/db/database.ts';
import { idAt } from '../../platform/db/partitions.ts';
import type { Job } from '../../platform/platform.ts';

/** Removes one batch. Returns whether there may be more rows. */
export type RemoveBatch = (query: JobQuery) => Promise<boolean>;

/** Begins to remove one kind of rows; each batch continues where the previous one ended. */
export type Removal = () => RemoveBatch;

const BATCH = 5_000;

/**
 * Returns the removal of rows whose `column` is less than `before`, in the order of the column. The table is not partitioned, since a ctid
 * names a row of one partition only.
 * @param rows.column has an index, or is the first column of one
 * @param rows.first less than every value of the column
 * @param rows.and another condition
 */
function removal(rows: { table: string; column: string; type: string; first: string; before: string; and?: string }): Removal {
  const { table, column, type, first, before, and = 'true' } = rows;
  // The rows are locked when they are selected, so that none is renewed before it is removed. For the ctid there is only one plan.
  // The lower bound skips the dead rows that the previous batch left for vacuum.
  const statement = `
    with ended as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where ${column} >= $1::${type} and ${column} < ${before} and ${and}
        order by ${column} limit ${BATCH} for update skip locked))
      returning ${column} as place)
    select count(*)::int as removed, (select place::text from ended order by place desc limit 1) as last from ended`;
  return () => {
    let from = first;
    return async (query) => {
      const { rows } = await query<{ removed: number; last: string | null }>(statement, [from]);
      from = rows[0].last ?? from;
      return rows[0].removed === BATCH;
    };
  };
}

/** Attempts that ended more than a day ago, of the few that are not dropped with their partition. The primary key finds them by their time. */
export const removeEndedAttempts = removal({
  table: 'sign_in_attempts_default',
  column: 'id',
  type: 'uuid',
  first: '00000000-0000-0000-0000-000000000000',
  before: idAt("now() - interval '1 day'"),
  and: "expires_at < now() - interval '1 day'",
});

const byTime = { type: 'timestamptz', first: '-infinity' };
const byDay = { type: 'date', first: '-infinity' };

/** Tokens that expired more than a day ago, of those that had no partition. Until then the reason of a refusal can be given. */
export const removeExpiredTokens = removal({
  table: 'tokens_default',
  column: 'expires_at',
  ...byTime,
  before: "now() - interval '1 day'",
});

/** Codes, tokens, sessions, grants and everything else of the OpenID provider that has expired. */
export const removeExpiredRecords = removal({ table: 'oidc_records', column: 'expires_at', ...byTime, before: 'now()' });

/** Counters of rate limits whose window has ended. */
export const removeEndedLimits = removal({ table: 'rate_limits', column: 'resets_at', ...byTime, before: 'now()' });

/** Used challenges of passkeys and nonces of pages, a day after their use: they are valid for an hour at most by the clock of the instance that issued them. */
export const removeUsedChallenges = removal({
  table: 'passkey_challenges',
  column: 'used_at',
  ...byTime,
  before: "now() - interval '1 day'",
});

/** Generations of accounts, a day after the last permission of an earlier one has expired. */
const removeOldGenerations = removal({
  table: 'account_generations',
  column: 'generation',
  type: 'bigint',
  first: '0',
  before: "(extract(epoch from now() - interval '31 days') * 1000000)::bigint",
});

/** Sessions that expired, after 30 days at most. One that is idle for 7 days is not valid, and is kept until then. */
export const removeEndedSessions = removal({ table: 'sessions', column: 'expires_at', ...byTime, before: 'now()' });

/**
 * Keys of remembered accounts that were not used for 90 days; an expired one cannot be used. `used_at` has no index, since it
 * changes at every use; `rotated_at` is never later, and less than a day earlier.
 */
export const removeIdleKeys = removal({
  table: 'remembered_keys',
  column: 'rotated_at',
  ...byTime,
  before: "now() - interval '90 days'",
  and: "used_at < now() - interval '90 days'",
});

/** Sessions of the admin pages that expired, after 8 hours at most. */
export const removeEndedAdminSessions = removal({ table: 'admin_sessions', column: 'expires_at', ...byTime, before: 'now()' });

/** Recipients of unclaimed websites, once the day for which they count has ended in every time zone. */
export const removeOldRecipients = removal({ table: 'website_recipients', column: 'day', ...byDay, before: 'current_date - 2' });

/** Challenges of domains that were not proven within 30 days and are not a website of their address. */
export const removeOldClaims = removal({
  table: 'domain_claims',
  column: 'created_at',
  ...byTime,
  before: "now() - interval '30 days'",
  and: 'not exists (select from websites w where w.domain = domain_claims.domain and w.email = domain_claims.email)',
});

/** Visitors of websites who did not sign in for 400 days, as long as a browser remembers an account at most. */
const removeOldVisitors = removal({
  table: 'website_visitors',
  column: 'last_at',
  ...byTime,
  before: `now() - interval '${VISITOR_DAYS} days'`,
});

/** Invitations that were not accepted, 30 days after they were sent; they are valid for INVITATION_DAYS. */
export const removeOldInvitations = removal({
  table: 'website_members',
  column: 'invited_at',
  ...byTime,
  before: "now() - interval '30 days'",
  and: 'joined_at is null',
});

/** Probes of the service, after 90 days. */
export const removeOldProbes = removal({ table: 'probes', column: 'minute', ...byTime, before: "now() - interval '90 days'" });

/** Sign-in times of a website, once no statistics cover the day. */
export const removeOldTimes = removal({
  table: 'daily_site_times',
  column: 'day',
  ...byDay,
  before: `current_date - ${MAX_STATS_DAYS + 10}`,
});

/** Removes what visitors' sign-ins leave behind. */
export const cleanUpSignIns = runOf([
  removeEndedAttempts,
  removeExpiredTokens,
  removeExpiredRecords,
  removeEndedLimits,
  removeUsedChallenges,
]);

/** Removes what browsers, websites and the service's own probes leave behind. */
export const cleanUpAccounts = runOf([
  removeEndedSessions,
  removeIdleKeys,
  removeEndedAdminSessions,
  removeOldRecipients,
  removeOldClaims,
  removeOldInvitations,
  removeOldProbes,
  removeOldTimes,
  removeOldVisitors,
  removeOldGenerations,
]);

/** Returns the run of a job that removes one batch of each kind in turn, so that neither a large kind nor one that fails delays the others. */
function runOf(removals: readonly Removal[]): Job['run'] {
  return async (query, { signal, maxMs }) => {
    const end = Date.now() + maxMs;
    const failures: unknown[] = [];
    let remaining = removals.map((begin) => begin());
    while (remaining.length > 0 && !signal.aborted && Date.now() < end) {
      const unfinished: typeof remaining = [];
      for (const removeBatch of remaining) {
        try {
          if (await removeBatch(query)) unfinished.push(removeBatch);
        } catch (error) {
          failures.push(error);
        }
      }
      remaining = unfinished;
    }
    if (failures.length > 0) throw failures[0];
  };
}
