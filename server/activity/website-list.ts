import { domainToASCII } from 'node:url';
import type pg from 'pg';
import type { Output, Parsed } from '../../contract/calls.ts';
import { LISTED_DAYS, type SortOrder, type WebsiteSort } from '../../contract/website-list.ts';
import type { WebsiteRole } from '../../contract/websites.ts';
import type { Database } from '../platform/db/database.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { managedBy, withoutProof } from '../websites/managers.ts';
import type { WebsiteSetup } from './setup.ts';
import { TODAY } from './stats-store.ts';

type Parts = { database: Database; setup: Pick<WebsiteSetup, 'nextSteps'> };

type ListedWebsite = Output<'searchWebsites'>['websites'][number];

/** The list of the websites that an account manages, with what happened there. */
export class WebsiteList {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns one page of the websites whose domain contains the text. Of the others only the names and what they are sorted by are read:
   * the names are compared here, because the database does not know how a domain is displayed.
   */
  async find(account: Account, { q, sort, order, page, limit }: Parsed<'searchWebsites'>): Promise<Output<'searchWebsites'>> {
    const { database, setup } = this.#parts;
    const names = (await readNames(database.core, account.email, sort))
      .map((name) => ({ ...name, displayDomain: displayDomainOf(name.domain) }))
      .filter(matching(q))
      .sort(comparing(sort, order));

    const shown = Math.min(page, Math.max(1, Math.ceil(names.length / limit)));
    const ids = names.slice((shown - 1) * limit, shown * limit).map(({ id }) => id);
    const [rows, steps] = await Promise.all([readRows(database.core, account.email, ids), setup.nextSteps(account, ids)]);
    const websites = rows.map((row) => {
      const { team, signIns, success, lastSignIn } = row;
      const nextStep = steps.get(row.id) ?? null;
      return { ...withoutProof(row, account.email, row.memberRole), team, signIns, success, lastSignIn, nextStep };
    });
    return { total: names.length, page: shown, websites };
  }
}

/** Binds the call that searches websites. */
export function websiteListEndpoints(list: WebsiteList): Endpoint[] {
  return [handle('searchWebsites', (input, { account }) => list.find(account, input))];
}

/** What a website is sorted by; null: it is not known. */
type Name = { id: string; domain: string; displayDomain: string; value: number | null };

/** Returns how two websites, newest first, are compared. Those without a value are last in both orders. */
function comparing(sort: WebsiteSort, order: SortOrder): (a: Name, b: Name) => number {
  const sign = order === 'asc' ? 1 : -1;
  if (sort === 'name') return (a, b) => sign * byName(a, b);
  return (a, b) => {
    if (a.value === null || b.value === null) return Number(a.value === null) - Number(b.value === null) || byName(a, b);
    return sign * (a.value - b.value) || (sort === 'added' ? 0 : byName(a, b));
  };
}

function byName(a: Name, b: Name): number {
  // Created at its first use, since the start would wait for it.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a.displayDomain, b.displayDomain);
}
let collator: Intl.Collator | undefined;

/** Returns whether a domain contains a text as it is displayed, or as A-labels (RFC 5890). */
function matching(q: string): (name: Name) => boolean {
  const text = q.normalize('NFC').toLowerCase();
  const ascii = domainToASCII(text) || text;
  return ({ domain, displayDomain }) => displayDomain.includes(text) || domain.includes(text) || domain.includes(ascii);
}

const FIRST_DAY = `${TODAY} - ${LISTED_DAYS - 1}`;

/** The sign-ins of a day of `daily_sites`. */
const SIGN_INS = 'opened + again + openid_opened';

/** The share of the emails that were opened. Those of the first day may have been requested the day before. */
const SENT = 'sum(sent + openid_sent)';
const SUCCESS = `case when ${SENT} > 0 then least(1, sum(opened + openid_opened) / ${SENT})::float8 end`;

/** Returns an expression over the last days of a website `w`. */
const ofLastDays = (expression: string) => `(select ${expression} from daily_sites where website = w.id and day >= ${FIRST_DAY})`;

const LAST_SIGN_IN = `(select max(day) from daily_sites where website = w.id and ${SIGN_INS} > 0)`;
const TEAM =
  '(select count(*) from website_members m where m.website_id = w.id and m.joined_at is not null) + (w.email is not null)::integer';

/** What a website `w` is sorted by. */
const VALUES: Record<WebsiteSort, string> = {
  added: 'extract(epoch from created_at)::float8',
  name: 'null::float8',
  state: 'case when proven_at is not null then 2 when claimed_at is not null then 1 else 0 end::float8',
  'sign-ins': ofLastDays(`coalesce(sum(${SIGN_INS}), 0)::float8`),
  success: ofLastDays(SUCCESS),
  last: `(${LAST_SIGN_IN} - date '2000-01-01')::float8`,
  team: `(${TEAM})::float8`,
};

const namesBy = (value: string) =>
  `select id, domain, ${value} as value from websites w where ${managedBy('w', '$1')} order by created_at desc, id desc`;

const ROWS = `
select w.id, domain, email, claimed_at as "claimedAt", proven_at as "provenAt", registered_by_others as "registeredByOthers", icon,
  created_at as "createdAt", (select role from website_members m where m.website_id = w.id and m.email = $1) as "memberRole", (${TEAM})::integer as team, (${LAST_SIGN_IN})::text as "lastSignIn", ${ofLastDays(SUCCESS)} as success,
  array(
    select coalesce(${SIGN_INS}, 0)::float8 from generate_series(0, ${LISTED_DAYS - 1}) n
    left join daily_sites on website = w.id and day = ${FIRST_DAY} + n order by n
  ) as "signIns"
from unnest($2::uuid[]) with ordinality given (id, position) join websites w on w.id = given.id
where ${managedBy('w', '$1')} order by position`;

type Row = Parameters<typeof withoutProof>[0] & { memberRole: WebsiteRole | null } & Pick<
    ListedWebsite,
    'team' | 'signIns' | 'success' | 'lastSignIn'
  >;

/** Returns the websites that an address manages, newest first. */
async function readNames(core: pg.Pool, email: string, sort: WebsiteSort): Promise<Omit<Name, 'displayDomain'>[]> {
  return (await core.query({ name: `websites-by-${sort}`, text: namesBy(VALUES[sort]), values: [email] })).rows;
}

/** Returns those of the given websites that an address manages, in the order given. */
async function readRows(core: pg.Pool, email: string, ids: string[]): Promise<Row[]> {
  return (await core.query<Row>({ name: 'websites-listed', text: ROWS, values: [email, ids] })).rows;
}
