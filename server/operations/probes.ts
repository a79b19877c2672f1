import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { requireWritable } from '../platform/db/client.ts';
import type { Log } from '../platform/log.ts';

/** @property at on the clock of performance.now(), which no one can set */
export type Probe = Measured & { at: number; checkedAt: Date };

type Parts = {
  log: Log;
  core: pg.Pool;
  store: StatusStore;
  /** Returns whether emails can be sent. */
  isDelivering(): Promise<boolean>;
  /** Returns where the service listens; null while it stops, when failures do not count. */
  ownAddress(): AddressInfo | null;
};

const INTERVAL_MS = 60_000;
/** Delay of the first probe, so that it does not slow down the start. */
const FIRST_DELAY_MS = 2_000;
const TIMEOUT_MS = 2_000;
/** How long a probe waits for the mail server. One that greets later counts as it did before, until the check ends. */
const MAIL_WAIT_MS = 5_000;
/** Probes that are kept in memory while the database is unavailable: one day, of at most four a minute. */
const MAX_UNSAVED = 5_760;

/** Measures every minute whether the service works, and saves the results. */
export class Probes {
  readonly #parts: Parts;
  #latest: Probe | null = null;
  #running: Promise<Probe> | null = null;
  #unsaved: Probe[] = [];
  #mailWorks = true;
  #checkingMail: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** The failures that were logged last. */
  #loggedFailures = '';

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    const startedAt = Date.now();
    const repeat = async () => {
      await this.#probe();
      // Scheduled relative to the start, so that no minute is skipped.
      if (this.#timer) this.#timer = setTimeout(repeat, INTERVAL_MS - ((Date.now() - startedAt) % INTERVAL_MS)).unref();
    };
    this.#timer = setTimeout(repeat, FIRST_DELAY_MS).unref();
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Returns the latest probe if it is younger than `maxAgeMs`, else a new one. Never rejects. */
  async recent(maxAgeMs: number): Promise<Probe> {
    return this.#latest && performance.now() - this.#latest.at < maxAgeMs ? this.#latest : this.#probe();
  }

  #probe(): Promise<Probe> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<Probe> {
    const probe = await this.#measure();
    if (this.#parts.ownAddress() === null) return this.#latest ?? probe;
    this.#latest = probe;
    this.#logFailures(probe.failed);
    this.#unsaved = [...this.#unsaved.slice(1 - MAX_UNSAVED), probe];
    if (probe.databaseMs !== null) await this.#save();
    return probe;
  }

  async #measure(): Promise<Probe> {
    const at = performance.now();
    const address = this.#parts.ownAddress();
    const [databaseMs, responseMs] = await Promise.all([
      measureMs(requireWritable(this.#parts.core), TIMEOUT_MS),
      measureMs(address ? requestSelf(address) : Promise.resolve(), TIMEOUT_MS),
      measureMs(this.#checkMail(), MAIL_WAIT_MS),
    ]);
    const results: [Component, boolean][] = [
      ['database', databaseMs !== null],
      ['mail', this.#mailWorks],
      ['response', responseMs !== null],
    ];
    const failed = results.filter(([, works]) => !works).map(([component]) => component);
    return { at, checkedAt: new Date(), databaseMs, responseMs, failed };
  }

  #checkMail(): Promise<void> {
    this.#checkingMail ??= this.#parts
      .isDelivering()
      .then((works) => {
        this.#mailWorks = works;
      })
      .finally(() => {
        this.#checkingMail = null;
      });
    return this.#checkingMail;
  }

  #logFailures(failed: Component[]): void {
    if (this.#loggedFailures === failed.join()) return;
    this.#loggedFailures = failed.join();
    if (failed.length > 0) this.#parts.log.error({ failed }, 'status: a probe failed');
    else this.#parts.log.info('status: all probes succeed again');
  }

  async #save(): Promise<void> {
    const now = performance.now();
    try {
      await this.#parts.store.save(this.#unsaved.map((probe) => ({ ...probe, secondsAgo: (now - probe.at) / 1000 })));
      this.#unsaved = [];
    } catch (error) {
      this.#parts.log.debug({ error: String(error) }, 'status: probes are kept until the database is available');
    }
  }
}

/** Returns how long the work took in milliseconds, or null when it failed or took longer than `timeoutMs`. */
async function measureMs(work: Promise<unknown>, timeoutMs: number): Promise<number | null> {
  const startedAt = performance.now();
  const succeeded = await valueWithin(
    work.then(() => true),
    timeoutMs,
  );
  return succeeded ? performance.now() - startedAt : null;
}

/** Returns a value, or null when it cannot be read in time. */
export function valueWithin<Value>(value: Promise<Value>, timeoutMs: number): Promise<Value | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timeoutMs, null).unref();
    value.then(resolve, () => resolve(null)).finally(() => clearTimeout(timer));
  });
}

/** Listening addresses that mean every interface, and the loopback address to reach them by. */
const LOOPBACK_OF_ANY: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/**
 * Requests a page of this service that needs no database, by its listening address, as a visitor would. Resolves at the end of a
 * response with status 200; rejects for any other response, and after TIMEOUT_MS.
 */
function requestSelf({ address, port }: AddressInfo): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: LOOPBACK_OF_ANY[address] ?? address,
        port,
        path: '/api/languages',
        agent: false,
        headers: { Connection: 'close' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      },
      (response) => {
        response.on('error', reject);
        response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`Status ${response.statusCode}`))));
        response.resume();
      },
    );
    outgoing.on('error', reject);
    outgoing.end();
  });
}

/** A part of the service that a probe checks. */
export type Component = 'database' | 'mail' | 'response';

/** The measurements of one process at one time; null where there was no response in time. */
type Measured = { databaseMs: number | null; responseMs: number | null; failed: Component[] };

type Incident = {
  startedAt: Date;
  /** The end of its last failed minute, but never in the future. */
  endedAt: Date;
  components: Component[];
  /** Its last failure is less than six minutes ago, so that it may be ongoing. */
  recent: boolean;
};

/** The last 30 UTC days, oldest first. */
export type History = {
  since: Date | null;
  responseMs: number | null;
  days: { date: string; measured: number; failed: number }[];
  /** Newest first, at most 200. */
  incidents: Incident[];
};

const SAVE = `
insert into probes as known (minute, database_ms, response_ms, failed)
select date_trunc('minute', now() - make_interval(secs => seconds_ago)), max(database_ms), max(response_ms),
  coalesce(array_agg(distinct component order by component) filter (where component is not null), '{}')
from unnest($1::float8[], $2::real[], $3::real[], $4::text[]) as probe (seconds_ago, database_ms, response_ms, failed)
left join lateral unnest(string_to_array(nullif(probe.failed, ''), ',')) as component on true
group by 1
on conflict (minute) do update set
  database_ms = greatest(known.database_ms, excluded.database_ms),
  response_ms = greatest(known.response_ms, excluded.response_ms),
  failed = coalesce((select array_agg(distinct component order by component) from unnest(known.failed || excluded.failed) as component), '{}')`;

// An incident ends when no probe has failed for more than five minutes.
const HISTORY = `
with recent as materialized (
  select minute, minute::date as day, response_ms, failed, failed <> '{}' as bad
  from probes where minute >= date_trunc('day', now()) - interval '29 days'
),
sums as (select day, count(*)::int as measured, (count(*) filter (where bad))::int as failed from recent group by day),
days as (
  select to_char(day, 'YYYY-MM-DD') as date, coalesce(measured, 0) as measured, coalesce(failed, 0) as failed
  from generate_series(date_trunc('day', now()) - interval '29 days', date_trunc('day', now()), '1 day') as each (at)
  cross join lateral (select each.at::date) as d (day) left join sums using (day)
),
begun as (
  select minute, failed, (minute - lag(minute) over (order by minute) <= interval '6 minutes') is not true as begins from recent where bad
),
numbered as (select minute, failed, count(*) filter (where begins) over (order by minute) as number from begun),
incidents as (
  select min(minute) as "startedAt", least(max(minute) + interval '1 minute', now()) as "endedAt",
    array_agg(distinct component order by component) as components, max(minute) > now() - interval '6 minutes' as recent
  from numbered, unnest(failed) as component group by number order by 1 desc limit 200
)
select (select min(minute) from probes) as since, (select avg(response_ms) from recent) as "responseMs",
  (select json_agg(days order by date) from days) as days, (select coalesce(json_agg(incidents), '[]') from incidents) as incidents`;

/** The measurements that the service takes of itself. */
export class StatusStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /**
   * Saves what was measured the given number of seconds ago, by the database's clock. All processes share one row per minute, with
   * the slowest response times and every component that failed.
   */
  async save(probes: (Measured & { secondsAgo: number })[]): Promise<void> {
    await this.#core.query({
      name: 'status-save',
      text: SAVE,
      values: [
        probes.map(({ secondsAgo }) => secondsAgo),
        probes.map(({ databaseMs }) => databaseMs),
        probes.map(({ responseMs }) => responseMs),
        probes.map(({ failed }) => failed.join(',')),
      ],
    });
  }

  async history(): Promise<History> {
    const [{ incidents, ...history }] = (await this.#core.query<History>({ name: 'status-history', text: HISTORY })).rows;
    return {
      ...history,
      // JSON has no dates.
      incidents: incidents.map((incident: Incident) => ({
        ...incident,
        startedAt: new Date(incident.startedAt),
        endedAt: new Date(incident.endedAt),
      })),
    };
  }
}
