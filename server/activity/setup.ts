import type pg from 'pg';
import type { Output } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { WEBSITE_PATHS } from '../../contract/pages.ts';
import { LOCAL_APP, LOCALHOST, websiteDomain } from '../../contract/urls.ts';
import type { Config } from '../platform/config.ts';
import type { Database } from '../platform/db/database.ts';
import { BY_EMAIL } from '../platform/db/method-rows.ts';
import { type Account, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { managedBy } from '../websites/managers.ts';
import { EventStore } from './event-store.ts';
import { type SetupFacts, setupSteps } from './setup-steps.ts';

/** How long the call may wait for transactions that are writing to the activity log. */
const TIMEOUT_SECONDS = 6;

type Parts = {
  config: Pick<Config, 'smtpUrl'>;
  isLocal: boolean;
  database: Database;
  /** Returns since when emails cannot be sent; null while they are sent. */
  failingMail(): object | null;
};

/** How far the set-up of a website is: from its record, the last check of its callback, and what happened in its sign-ins. */
export class WebsiteSetup {
  readonly #parts: Parts;
  readonly #store: SetupStore;
  readonly #events: EventStore;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = new SetupStore(parts.database.core);
    this.#events = new EventStore(parts.database.core);
  }

  /** @throws Fault website_not_found */
  async read({ email }: Account, domain: string): Promise<Output<'websiteSetup'>> {
    // Before the rest, so that every later change is an event after the cursor.
    const newest = await this.#events.newest();
    const website = await this.#store.find(email, websiteDomain(domain) ?? '');
    if (!website) throw new Fault('website_not_found');
    const [steps] = await this.#stepsOf([website]);
    return {
      complete: steps.every(({ state }) => state === 'done'),
      steps,
      callback: website.callback ?? `${website.domain === LOCALHOST ? LOCAL_APP : `https://${website.domain}`}${WEBSITE_PATHS.callback}`,
      cursor: newest === null ? null : String(newest),
    };
  }

  /** Returns by the ids of websites that an account manages the first step that failed, else the first open one. */
  async nextSteps({ email }: Account, ids: string[]): Promise<Map<string, Step>> {
    const websites = await this.#store.findAll(email, ids);
    const steps = await this.#stepsOf(websites);
    return new Map(
      websites.flatMap(({ id }, index) => {
        const next = steps[index].find(({ state }) => state === 'failed') ?? steps[index].find(({ state }) => state === 'open');
        return next ? [[id, next]] : [];
      }),
    );
  }

  /** Returns the steps of each website, in the same order. */
  async #stepsOf(websites: FoundWebsite[]): Promise<Step[][]> {
    const { config, isLocal, failingMail } = this.#parts;
    const activity = await this.#store.activity(websites, isLocal);
    const service = { isLocal: config.smtpUrl === null, isFailing: failingMail() !== null };
    return websites.map((website) => {
      const rows = activity.filter(({ id, domain, at }) => id === website.id || (domain === LOCALHOST && at >= website.since));
      const own = rows.filter(({ id }) => id === website.id);
      return setupSteps({ ...factsOf(website, rows), mail: { ...mailOf(website, own), ...service } });
    });
  }
}

type Step = Output<'websiteSetup'>['steps'][number];

/** Binds the call that returns the state of the set-up. */
export function setupEndpoints(setup: WebsiteSetup): Endpoint[] {
  return [handle('websiteSetup', ({ domain }, { account }) => setup.read(account, domain), { timeoutSeconds: TIMEOUT_SECONDS })];
}

const VERIFIED = ['token_verified', 'code_exchanged'];
/** Reasons for which a token that was issued here is rejected. Anyone can cause the others, a check of the callback too. */
const REFUSED = ['used', 'expired', 'other_domain'];
const NOT_ACCEPTED = ['mail_delayed', 'mail_refused', 'mail_expired'];

function factsOf(website: FoundWebsite, rows: ActivityRow[]): Omit<SetupFacts, 'mail'> {
  const own = rows.filter(({ id }) => id === website.id);
  const refusal = newestOf(own, ({ action, result }) => action === 'token_refused' && REFUSED.includes(result ?? ''));
  const { checkedAt, results } = website;
  return {
    domain: displayDomainOf(website.domain),
    isProven: website.isProven,
    wasProven: own.some(({ action }) => action === 'website_proven'),
    check: checkedAt && results ? { at: checkedAt, results } : null,
    verifiedAt: newestOf(own, ({ action }) => VERIFIED.includes(action))?.at ?? null,
    localAt: newestOf(rows, ({ action, id }) => id !== website.id && VERIFIED.includes(action))?.at ?? null,
    verifiedBefore: website.verifiedBefore,
    requestedAt: newestOf(own, ({ action }) => action === 'sign_in_requested')?.at ?? null,
    openedAt: newestOf(own, ({ action }) => action === 'signed_in')?.at ?? null,
    refusal: refusal && { at: refusal.at, reason: refusal.result ?? '' },
  };
}

function mailOf(
  { acceptedBefore }: FoundWebsite,
  own: ActivityRow[],
): Pick<SetupFacts['mail'], 'acceptedAt' | 'acceptedBefore' | 'problem'> {
  const problem = newestOf(own, ({ action }) => NOT_ACCEPTED.includes(action));
  return {
    acceptedAt: newestOf(own, ({ action, isByEmail }) => action === 'mail_accepted' || isByEmail)?.at ?? null,
    acceptedBefore,
    problem: problem && { at: problem.at, kind: problem.action, reason: problem.result },
  };
}

function newestOf(rows: ActivityRow[], test: (row: ActivityRow) => boolean): ActivityRow | null {
  const found = rows.filter(test);
  return found.length === 0 ? null : found.reduce((newest, row) => (row.at > newest.at ? row : newest));
}

type FoundWebsite = {
  id: string;
  domain: string;
  since: Date;
  isProven: boolean;
  /** Of the last check at the present domain; null: there was none. */
  checkedAt: Date | null;
  callback: string | null;
  results: Output<'checkCallback'>['results'] | null;
  /** From the statistics since the day after it got its domain. */
  verifiedBefore: boolean;
  acceptedBefore: boolean;
};

/** The newest row of the activity log of a website, an action and a result; also of localhost. */
type ActivityRow = { id: string; domain: string; action: string; result: string | null; isByEmail: boolean; at: Date };

/** The newest rows of a website that are read. Earlier ones are known from the statistics. */
const MAX_ROWS = 2_000;

/** Selects websites that the address $1 manages. @param condition with $2 */
const findBy = (condition: string) => `
select w.id, w.domain, w.domain_since as since, w.proven_at is not null as "isProven", c.at as "checkedAt", c.callback, c.results,
  coalesce(counted.verified, false) as "verifiedBefore", coalesce(counted.accepted, false) as "acceptedBefore"
from websites w left join website_checks c on c.website_id = w.id and c.at >= w.domain_since
cross join lateral (
  select sum(completed + openid_opened) > 0 as verified, sum(opened + openid_opened) > 0 as accepted
  from daily_sites where website = w.id and day > (w.domain_since at time zone 'UTC')::date
) counted
where ${condition} and ${managedBy('w', '$1')}`;

// $1 the websites, $2 whether to read localhost too. A former proof is of any time.
const ACTIVITY = `
select distinct on (site.id, action, result, "isByEmail") site.id, site.domain, action, result, coalesce(${BY_EMAIL}, false) as "isByEmail", row.at
from websites site cross join lateral (
  select id, at, action, result, method from activity_log where website_id = site.id order by id desc limit ${MAX_ROWS}
) row
where (site.id = any($1::uuid[]) or $2 and site.domain = '${LOCALHOST}') and (row.at >= site.domain_since or action = 'website_proven')
order by site.id, action, result, "isByEmail", row.id desc`;

/** The statements of the set-up. */
class SetupStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Returns a website that the address manages, by its domain, or undefined. */
  async find(email: string, domain: string): Promise<FoundWebsite | undefined> {
    return (await this.#query<FoundWebsite>('setup-website', findBy('w.domain = $2'), [email, domain]))[0];
  }

  /** Returns those of the given websites that the address manages, in any order. */
  findAll(email: string, ids: string[]): Promise<FoundWebsite[]> {
    return this.#query('setup-websites', findBy('w.id = any($2::uuid[])'), [email, ids]);
  }

  /** Returns what happened last at each website since it has its domain, and with `localhost` also at localhost. */
  activity(websites: FoundWebsite[], localhost: boolean): Promise<ActivityRow[]> {
    return this.#query('setup-activity', ACTIVITY, [websites.map(({ id }) => id), localhost]);
  }

  async #query<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#core.query<Row>({ name, text, values })).rows;
  }
}
