import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import type { Reader } from '../db/read-replica.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { findManaged } from '../websites/managers.ts';
import { readAccountLogins } from './account-logins.ts';
import { countActiveApplications, readDailyLogins, readOverview, readWebsiteIds, readWebsiteStats } from './store.ts';
import { readWebsiteHistory } from './website-store.ts';

type Parts = {
  database: Pick<Database, 'core' | 'reader' | 'replica' | 'orm'>;
  /** Returns the availability of the service in percent, null while there is not enough data. */
  uptime: () => Promise<number | null>;
};

/**
 * Statistics of the last 30 UTC days where nothing else is given, exact at the time of the call; with DATABASE_READ_URL, up to a minute
 * late. Which websites and applications an account manages is read from the primary.
 */
export class Stats {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns the sign-ins of the account's websites, each from the time when the website became the account's.
   * @param ids only of these websites
   */
  async ofWebsites({ email }: Account, ids?: string[]): Promise<Output<'websiteStats'>> {
    const { core, reader, replica } = this.#parts.database;
    const wanted = ids ?? (replica && (await readWebsiteIds(core, email)));
    const stats = await readWebsiteStats(reader, email, wanted);
    // The replica may not know a website that was just added or shared.
    return replica && wanted && stats.length < wanted.length ? readWebsiteStats(core, email, wanted) : stats;
  }

  /** Returns the sign-ins to one website of the account, per day. @throws Fault website_not_found */
  async history(account: Account, { id, days }: Parsed<'websiteHistory'>): Promise<Output<'websiteHistory'>> {
    const { core, reader, replica } = this.#parts.database;
    if (replica) await findManaged(await this.#parts.database.orm(), account.email, id);
    const read = (from: Reader) => readWebsiteHistory(from, account.email, id, days);
    const history = (await read(reader)) ?? (replica && (await read(core)));
    if (!history) throw new Fault('website_not_found');
    return history;
  }

  async overview(account: Account): Promise<Output<'overview'>> {
    const { core, reader } = this.#parts.database;
    const [{ totalLogins, apiRequests }, activeApplications, uptimePercent] = await Promise.all([
      readOverview(reader, account),
      countActiveApplications(core, account.id),
      this.#parts.uptime(),
    ]);
    return { totalLogins, activeApplications, apiRequests, uptimePercent };
  }

  /** Returns the sign-ins to the account's websites and applications per day. @param days how many days, up to today */
  loginsOf(account: Account, days: number): Promise<Output<'accountLogins'>> {
    return readAccountLogins(this.#parts.database.reader, account, days);
  }

  /** Returns all sign-ins of the service, newest day first, including days without any. */
  dailyLogins(): Promise<Output<'dailyLogins'>> {
    return readDailyLogins(this.#parts.database.reader);
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
