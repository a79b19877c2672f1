import type pg from 'pg';
import type { Output, Parsed } from '../../contract/calls.ts';
import { maskEmail } from '../../contract/emails.ts';
import { Fault } from '../../contract/errors.ts';
import { MAX_EXPORTED_VISITORS, VISITORS_PAGE } from '../../contract/limits.ts';
import { beginChange } from '../permissions/proofs.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import { type Database, inTransaction, queryOf } from '../platform/db/database.ts';
import { idAt } from '../platform/db/partitions.ts';
import { type Account, actorOf, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { findManaged, findOwned, type Managed } from './managers.ts';
import { erasureHash } from './visits.ts';

type Visitor = Output<'listVisitors'>['visitors'][number];

type Parts = { isLocal: boolean; database: Database };

/** The addresses that signed in to a website. */
export class Visitors {
  readonly #isLocal: boolean;
  readonly #database: Database;

  constructor({ isLocal, database }: Parts) {
    this.#isLocal = isLocal;
    this.#database = database;
  }

  /** Returns one page of the visitors. @throws Fault unproven_domain, website_not_found */
  async list({ email }: Account, query: Parsed<'listVisitors'>): Promise<Output<'listVisitors'>> {
    const masked = !this.#showsAddresses(await findManaged(await this.#database.orm(), email, query.id));
    // A search, and the order of the addresses, would reveal what is masked.
    if (masked && (query.search !== '' || query.sort === 'email')) throw new Fault('unproven_domain', { field: 'search', message: MASKED });
    const { visitors, ...rest } = await readVisitors(this.#database.core, { ...query, search: query.search.toLowerCase() });
    return { ...rest, masked, visitors: visitors.map((row) => present(masked ? { ...row, email: maskEmail(row.email) } : row)) };
  }

  /** Returns visitors in the order of their addresses. The first response is recorded in the audit log. @throws Fault owner_needed, unproven_domain, website_not_found */
  async export(account: Account, { id, email, after }: Parsed<'exportVisitors'>): Promise<Output<'exportVisitors'>> {
    const { domain } = await this.#findOwned(account.email, id);
    if (after === undefined) await this.#audit('visitors_exported', account, { id, domain });
    const rows = await readVisitorsAfter(this.#database.core, id, after ?? '', email ?? null);
    const visitors = rows.slice(0, MAX_EXPORTED_VISITORS);
    return { visitors: visitors.map(present), next: rows.length > visitors.length ? (visitors.at(-1)?.email ?? null) : null };
  }

  /** Erases an address, whether or not it has signed in. @throws Fault owner_needed, unproven_domain, website_not_found */
  async erase(account: Account, { id, email }: Parsed<'eraseVisitor'>): Promise<Output<'eraseVisitor'>> {
    const { domain } = await this.#findOwned(account.email, id);
    await eraseFromWebsite(this.#database.core, { website: id, domain, email, account });
    return { success: true };
  }

  async #findOwned(email: string, id: string): Promise<{ domain: string }> {
    const managed = await findOwned(await this.#database.orm(), email, id);
    if (!this.#showsAddresses(managed)) throw new Fault('unproven_domain', { message: MASKED });
    return managed.website;
  }

  /** Anyone can register a domain, and could learn here who signs in to it. */
  #showsAddresses({ website }: Managed): boolean {
    return website.provenAt !== null || this.#isLocal;
  }

  async #audit(action: string, account: Account, { id, domain }: { id: string; domain: string }): Promise<void> {
    const { sequelize, AuditEntry } = await this.#database.orm();
    await sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(sequelize, transaction), account);
      await AuditEntry.create({ action, ...actorOf(account), websiteId: id, domain }, { transaction });
    });
  }
}

const MASKED = 'The addresses of visitors are shown once the domain is verified.';

const present = ({ firstAt, lastAt, ...visitor }: VisitorRow): Visitor => ({
  ...visitor,
  firstAt: firstAt.toISOString(),
  lastAt: lastAt.toISOString(),
});

/** Binds the calls of visitors. */
export function visitorEndpoints(visitors: Visitors): Endpoint[] {
  return [
    handle('listVisitors', (query, { account }) => visitors.list(account, query)),
    handle('exportVisitors', (input, { account }) => visitors.export(account, input)),
    handle('eraseVisitor', (input, { account }) => visitors.erase(account, input)),
  ];
}

const ROW = `email, first_at as "firstAt", last_at as "lastAt", by_email::integer as "byEmail", remembered::integer, openid::integer`;

type Query = Parsed<'listVisitors'>;

const SORTS: Record<Query['sort'], string> = {
  last: 'last_at',
  first: 'first_at',
  count: '(by_email + remembered + openid)',
  email: 'email',
};

// $2: a part of the address, $3: the number of visitors before the page.
const listStatement = (sort: Query['sort'], order: Query['order']) => `
with matching as materialized (select * from website_visitors where website = $1 and ($2 = '' or strpos(email, $2) > 0)),
page as (select ${ROW} from matching order by ${SORTS[sort]} ${order}, email limit ${VISITORS_PAGE} offset $3)
select (select count(*) from matching)::integer as total, coalesce((select json_agg(page) from page), '[]') as visitors`;

// $2: the last address of the previous response, $3: the only address; null: all.
const EXPORT = `
select ${ROW} from website_visitors where website = $1 and email > $2 and ($3::text is null or email = $3) order by email limit ${MAX_EXPORTED_VISITORS + 1}`;

/** An address that signed in to a website. */
type VisitorRow = { email: string; firstAt: Date; lastAt: Date; byEmail: number; remembered: number; openid: number };

type Page = {
  total: number;
  visitors: (Omit<VisitorRow, 'firstAt' | 'lastAt'> & { firstAt: string; lastAt: string })[];
};

/** Returns one page of the visitors of a website. */
async function readVisitors(core: pg.Pool, { id, search, sort, order, page }: Query): Promise<{ total: number; visitors: VisitorRow[] }> {
  const query = {
    name: `visitors-${sort}-${order}`,
    text: listStatement(sort, order),
    values: [id, search, (page - 1) * VISITORS_PAGE],
  };
  const [{ visitors, ...rest }] = (await core.query<Page>(query)).rows;
  return { ...rest, visitors: visitors.map((row) => ({ ...row, firstAt: new Date(row.firstAt), lastAt: new Date(row.lastAt) })) };
}

/**
 * Returns the visitors of a website after an address, in the order of their addresses; one more than a response has when there are more.
 * @param email the only visitor to return; null: all
 */
async function readVisitorsAfter(core: pg.Pool, id: string, after: string, email: string | null): Promise<VisitorRow[]> {
  return (await core.query<VisitorRow>({ name: 'visitors-export', text: EXPORT, values: [id, after, email] })).rows;
}

/*
 * What erasing an address from a website ends. The rows are found by indexes that exist for other purposes: attempts by the time in
 * their ids (UUIDs of version 7), tokens by their expiry, grants by the address.
 */

// Locks the row first: see ADD_VISITS in visits.ts.
const BEGIN = 'update visitor_roll_up set erasures = erasures + 1';

const REMEMBER = `
insert into website_erasures (website, hash, at) values ($1, ${erasureHash('$1::uuid', '$2::text')}, clock_timestamp())
on conflict (website, hash) do update set at = excluded.at`;

const REMOVE_VISITOR = 'delete from website_visitors where website = $1 and email = $2';

/** Whether the client_id of a record is an origin of the domain $2. */
const IS_CLIENT = `('.' || split_part(substring(client_id from '^https?://([^/]+)$'), ':', 1)) like '%.' || $2`;

const END_ATTEMPTS = `
with ended as (
  delete from sign_in_attempts
  where id > ${idAt("now() - interval '1 hour'")}
    and email = $1 and (domain = $2 or kind = 'oidc' and ${IS_CLIENT})
  returning id
)
delete from outbox using ended where outbox.id = ended.id`;

// The second condition has an index.
const END_TOKENS = `
delete from tokens where expires_at > now() and (expires_at at time zone 'UTC') > (now() at time zone 'UTC') and domain = $2 and email = $1`;

const END_GRANTS = `
with ended as (delete from oidc_records where email = $1 and kind = 'Grant' and ${IS_CLIENT} returning id)
delete from oidc_records using ended where grant_id = ended.id`;

const AUDIT = addActivity({
  action: "'visitor_erased'",
  email: '$1',
  domain: '$2',
  websiteId: '$3::uuid',
  device: '$4',
  network: '$5',
});

/**
 * Erases an address from a website: it leaves the list of visitors, what is shown of earlier events is shown without it, and its pending
 * sign-ins, unused tokens and grants of OpenID Connect at this website end.
 * @param erasure.account which erases it
 */
function eraseFromWebsite(core: pg.Pool, erasure: { website: string; domain: string; email: string; account: Account }): Promise<void> {
  const { website, domain, email, account } = erasure;
  return inTransaction(core, async (query, plain) => {
    await beginChange(plain, account);
    await query('visitors-erase-begin', BEGIN, []);
    await query('visitors-erase-remember', REMEMBER, [website, email]);
    await query('visitors-erase', REMOVE_VISITOR, [website, email]);
    await query('visitors-erase-attempts', END_ATTEMPTS, [email, domain]);
    await query('visitors-erase-tokens', END_TOKENS, [email, domain]);
    await query('visitors-erase-grants', END_GRANTS, [email, domain]);
    const { email: eraser, device, network } = actorOf(account);
    await query('visitors-erase-audit', AUDIT, [eraser, domain, website, device, network]);
  });
}
