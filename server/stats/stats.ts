import type { Output } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import type { Account } from '../http/serve.ts';
import { createStatsStore } from './store.ts';

export type Figures = ReturnType<typeof createStats>;

/**
 * Figures of the last 30 UTC days, exact up to the moment they are asked for.
 * @param parts.uptime the service's own, in percent; null: not enough data yet
 */
export function createStats(parts: { database: Pick<Database, 'core'>; uptime: () => Promise<number | null> }) {
  const store = createStatsStore(parts.database.core);
  return {
    /** The sign-ins of the account's own sites, each from the moment on that the site is the account's. */
    ofSites: (account: Account): Promise<Output<'websiteStats'>> => store.ofSites(account.email),

    async overview(account: Account): Promise<Output<'overview'>> {
      const [counts, uptimePercent] = await Promise.all([store.overview(account), parts.uptime()]);
      return { ...counts, uptimePercent };
    },

    /** All sign-ins of the service, newest day first, days without one included. */
    dailyLogins: (): Promise<Output<'dailyLogins'>> => store.dailyLogins(),
  };
}
