import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { counters } from '../platform/db/rate-limits.ts';

/** Wrong codes for one mailbox, after which browsers that are not known for the address may try the code of each email once. */
export const GUESSES = RATE_LIMITS.wrong_codes_mailbox;

/**
 * Returns a condition: whether so many wrong codes were entered for a mailbox that someone is guessing. A scalar subquery, for which the
 * planner cannot read the whole table.
 * @param mailbox as SQL
 * @param limit as SQL
 */
export const isGuessed = (mailbox: string, limit: string) =>
  `coalesce((select l.hits >= ${limit} and l.resets_at > now() from rate_limits l where l.key = ${counters.guesses(mailbox)}), false)`;

/**
 * Returns a statement that ends the counters of wrong codes after a sign-in, for a CTE. The rows are locked in the order of their keys, so
 * that two statements never deadlock.
 * @param mailboxes a query with one column, the mailboxes that signed in
 */
export const endGuesses = (mailboxes: string) => `
  delete from rate_limits where key = any(array(
    select key from rate_limits where key = any(array(select ${counters.guesses('mailbox')} from (${mailboxes}) signed_in (mailbox)))
    order by key for update))`;
