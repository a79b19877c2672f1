import { Fault } from '../../contract/errors.ts';
import { MAX_EXPORTED_VISITORS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { maskEmail } from '../../contract/rules.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { findManaged, findOwned, type Managed } from '../websites/managers.ts';
import { eraseFromWebsite } from './erasures-store.ts';
import { readVisitors, readVisitorsAfter, type VisitorRow } from './store.ts';

type Visitor = Output<'listVisitors'>['visitors'][number];

type Parts = { config: Pick<Config, 'mode'>; database: Database };

/** The addresses that signed in to a website. */
export class Visitors {
  readonly #isLocal: boolean;
  readonly #database: Database;

  constructor({ config, database }: Parts) {
    this.#isLocal = config.mode === 'local';
    this.#database = database;
  }

  /** Returns one page of the visitors, exact at the time of the call. @throws Fault proof_needed, website_not_found */
  async list({ email }: Account, query: Parsed<'listVisitors'>): Promise<Output<'listVisitors'>> {
    const masked = !this.#showsAddresses(await findManaged(await this.#database.orm(), email, query.id));
    // A search, and the order of the addresses, would reveal what is masked.
    if (masked && (query.search !== '' || query.sort === 'email')) throw new Fault('proof_needed', { field: 'search' });
    const { visitors, ...rest } = await readVisitors(this.#database.core, { ...query, search: query.search.toLowerCase() });
    return { ...rest, masked, visitors: visitors.map((row) => present(masked ? { ...row, email: maskEmail(row.email) } : row)) };
  }

  /** Returns visitors in the order of their addresses. The first response is recorded in the audit log. @throws Fault owner_needed, proof_needed, website_not_found */
  async export({ email: by }: Account, { id, email, after }: Parsed<'exportVisitors'>): Promise<Output<'exportVisitors'>> {
    const { domain } = await this.#findOwned(by, id);
    if (after === undefined) await this.#audit('visitors_exported', by, domain);
    // An address that was just erased is not exported.
    const rows = await readVisitorsAfter(await this.#database.currentReader(), id, after ?? '', email ?? null);
    const visitors = rows.slice(0, MAX_EXPORTED_VISITORS);
    return { visitors: visitors.map(present), next: rows.length > visitors.length ? (visitors.at(-1)?.email ?? null) : null };
  }

  /** Erases an address, whether or not it has signed in. @throws Fault owner_needed, proof_needed, website_not_found */
  async erase({ email: by }: Account, { id, email }: Parsed<'eraseVisitor'>): Promise<Output<'eraseVisitor'>> {
    const { domain } = await this.#findOwned(by, id);
    await eraseFromWebsite(this.#database.core, { website: id, domain, email, by });
    return { success: true };
  }

  async #findOwned(email: string, id: string): Promise<{ domain: string }> {
    const managed = await findOwned(await this.#database.orm(), email, id);
    if (!this.#showsAddresses(managed)) throw new Fault('proof_needed');
    return managed.website;
  }

  /** Anyone can register a domain, and could learn here who signs in to it. */
  #showsAddresses({ website }: Managed): boolean {
    return website.provenAt !== null || this.#isLocal;
  }

  async #audit(action: string, email: string, domain: string): Promise<void> {
    const { AuditEntry } = await this.#database.orm();
    await AuditEntry.create({ action, email, domain });
  }
}

const present = ({ firstAt, lastAt, ...visitor }: VisitorRow): Visitor => ({
  ...visitor,
  firstAt: firstAt.toISOString(),
  lastAt: lastAt.toISOString(),
});

export function visitorRoutes(visitors: Visitors): Served[] {
  return [
    serve('listVisitors', (query, { account }) => visitors.list(account, query)),
    serve('exportVisitors', (input, { account }) => visitors.export(account, input)),
    serve('eraseVisitor', (input, { account }) => visitors.erase(account, input)),
  ];
}
