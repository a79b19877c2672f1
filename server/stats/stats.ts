import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { readAccountLogins } from './account-logins.ts';
import { readDailyLogins, readOverview, readWebsiteStats } from './store.ts';
import { readWebsiteHistory } from './website-store.ts';

type Parts = {
  database: Pick<Database, 'core'>;
  /** Returns the availability of the service in percent, null while there is not enough data. */
  uptime: () => Promise<number | null>;
};

/** Statistics of the last 30 UTC days where nothing else is given, exact at the time of the call. */
export class Stats {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns the sign-ins of the account's websites, each from the time when the website became the account's.
   * @param ids only of these websites
   */
  ofWebsites(account: Account, ids?: string[]): Promise<Output<'websiteStats'>> {
    return readWebsiteStats(this.#parts.database.core, account.email, ids ?? null);
  }

  /** Returns the sign-ins to one website of the account, per day. @throws Fault website_not_found */
  async history(account: Account, { id, days }: Parsed<'websiteHistory'>): Promise<Output<'websiteHistory'>> {
    const history = await readWebsiteHistory(this.#parts.database.core, account.email, id, days);
    if (!history) throw new Fault('website_not_found');
    return history;
  }

  async overview(account: Account): Promise<Output<'overview'>> {
    const [counts, uptimePercent] = await Promise.all([readOverview(this.#parts.database.core, account), this.#parts.uptime()]);
    return { ...counts, uptimePercent };
  }

  /** Returns the sign-ins to the account's websites and applications per day. @param days how many days, up to today */
  loginsOf(account: Account, days: number): Promise<Output<'accountLogins'>> {
    return readAccountLogins(this.#parts.database.core, account, days);
  }

  /** Returns all sign-ins of the service, newest day first, including days without any. */
  dailyLogins(): Promise<Output<'dailyLogins'>> {
    return readDailyLogins(this.#parts.database.core);
  }
}

export function statsRoutes(stats: Stats): Served[] {
  return [
    serve('websiteStats', (_, { account }) => stats.ofWebsites(account)),
    serve('websiteHistory', (input, { account }) => stats.history(account, input)),
    serve('overview', (_, { account }) => stats.overview(account)),
    serve('accountLogins', ({ days }, { account }) => stats.loginsOf(account, days)),
    serve('dailyLogins', () => stats.dailyLogins()),
  ];
}
