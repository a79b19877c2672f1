import { domainToASCII } from 'node:url';
import type pg from 'pg';
import type { Output, Parsed } from '../../contract/calls.ts';
import { NO_STATS } from '../../contract/methods.ts';
import type { Database } from '../platform/db/database.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { displayDomainOf } from './domains.ts';
import { managedBy, presentWebsites } from './managers.ts';
import type { WebsiteRecord } from './store.ts';

/** Reads the statistics of the websites that an account manages (server/activity/stats.ts). */
export type StatsReader = { ofWebsites(account: Account, ids?: string[]): Promise<WebsiteStats[]> };

type Parts = { database: Database; stats: StatsReader };

type Name = { id: string; domain: string; displayDomain: string };
type WebsiteStats = Output<'websiteStats'>[number];

/** Searches the websites that an account manages. */
export class WebsiteSearch {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns one page of the websites whose domain contains the text. Of the others only the names are read: they are compared here,
   * because the database does not know how a domain is displayed.
   */
  async find(account: Account, { q, sort, page, limit }: Parsed<'searchWebsites'>): Promise<Output<'searchWebsites'>> {
    const { database, stats } = this.#parts;
    const names = (await findNames(database.core, account.email))
      .map((name) => ({ ...name, displayDomain: displayDomainOf(name.domain) }))
      .filter(matching(q));
    const ofAll = sort === 'sign-ins' ? byId(await stats.ofWebsites(account)) : null;
    if (sort === 'name') names.sort(byName);
    if (ofAll) names.sort((a, b) => signInsOf(ofAll.get(b.id)) - signInsOf(ofAll.get(a.id)) || byName(a, b));

    const last = Math.max(1, Math.ceil(names.length / limit));
    const shown = Math.min(page, last);
    const ids = names.slice((shown - 1) * limit, shown * limit).map(({ id }) => id);
    const [records, read] = await Promise.all([
      readWebsites(database.core, account.email, ids),
      ofAll ?? stats.ofWebsites(account, ids).then(byId),
    ]);
    const found = await presentWebsites(database, account, records);
    // A website may have been deleted since its name was read.
    const rows = ids.flatMap((id) => found.find((website) => website.id === id) ?? []);
    return {
      total: names.length,
      page: shown,
      websites: rows.map((website) => ({ ...website, stats: read.get(website.id) ?? NO_STATS })),
    };
  }
}

const byId = (stats: WebsiteStats[]) => new Map(stats.map(({ id, ...counts }) => [id, counts]));

const signInsOf = (stats: Omit<WebsiteStats, 'id'> | undefined) => (stats ? stats.opened + stats.again : 0);

const byName = (a: Name, b: Name) => {
  // Created at its first use, since the start would wait for it.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a.displayDomain, b.displayDomain);
};
let collator: Intl.Collator | undefined;

/** Returns whether a domain contains a text as it is displayed, or as A-labels (RFC 5890). */
function matching(q: string): (name: Name) => boolean {
  const text = q.normalize('NFC').toLowerCase();
  const ascii = domainToASCII(text) || text;
  return ({ domain, displayDomain }) => displayDomain.includes(text) || domain.includes(text) || domain.includes(ascii);
}

/** Binds the call that searches websites. */
export function websiteSearchEndpoints(search: WebsiteSearch): Endpoint[] {
  return [handle('searchWebsites', (input, { account }) => search.find(account, input))];
}

const NAMES = `select id, domain from websites w where ${managedBy('w', '$1')} order by created_at desc, id desc`;

const READ = `
select id, domain, email, claimed_at as "claimedAt", proven_at as "provenAt", registered_by_others as "registeredByOthers", icon, created_at as "createdAt"
from websites w where id = any($2::uuid[]) and ${managedBy('w', '$1')}`;

/** Returns the websites that an address manages, newest first. */
async function findNames(core: pg.Pool, email: string): Promise<{ id: string; domain: string }[]> {
  return (await core.query({ name: 'websites-names', text: NAMES, values: [email] })).rows;
}

/** Returns those of the given websites that an address manages, in any order. */
async function readWebsites(core: pg.Pool, email: string, ids: string[]): Promise<WebsiteRecord[]> {
  return (await core.query<WebsiteRecord>({ name: 'websites-read', text: READ, values: [email, ids] })).rows;
}
