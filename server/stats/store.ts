import type pg from 'pg';
import type { Output } from '../../contract/routes.ts';
import { DAILY_LOGINS, NEWEST, OVERVIEW, SITE_FIGURES, STILL_WRITING, SUM_UP } from './statements.ts';

/** Answers from the sums and what came after them. By the core's pool, whose settings keep to the indexes. */
export function createStatsStore(core: pg.Pool) {
  return {
    async dailyLogins(): Promise<Output<'dailyLogins'>> {
      return (await core.query({ name: 'figures-daily', text: DAILY_LOGINS })).rows;
    },

    async ofSites(email: string): Promise<Output<'websiteStats'>> {
      return (await core.query({ name: 'figures-sites', text: SITE_FIGURES, values: [email] })).rows;
    },

    async overview(account: { id: string; email: string }): Promise<Omit<Output<'overview'>, 'uptimePercent'>> {
      return (await core.query({ name: 'figures-overview', text: OVERVIEW, values: [account.email, account.id] })).rows[0];
    },
  };
}

/** Runs one statement; what graphile-worker gives its tasks. */
export type Query = <Row extends object>(text: string, values?: unknown[]) => Promise<{ rows: Row[] }>;

/** The newest row of the audit log, null when it has none, and the transactions that may still add one before it. */
export async function newestRow(query: Query): Promise<{ newest: string | null; writers: string[] }> {
  return (await query<{ newest: string | null; writers: string[] }>(NEWEST)).rows[0];
}

/** How many of these transactions have not ended. */
export async function stillWriting(query: Query, writers: string[]): Promise<number> {
  return (await query<{ writers: number }>(STILL_WRITING, [writers])).rows[0].writers;
}

/** Adds up to `most` rows to the sums. @returns how far they go; null: all is summed up to `newest`, or another instance is at it */
export async function sumUp(query: Query, newest: string, most: number): Promise<string | null> {
  return (await query<{ upTo: string }>(SUM_UP, [newest, most])).rows[0]?.upTo ?? null;
}
