import type pg from 'pg';
import { READ_ONLY_CAUSE } from '../db/client.ts';

/** A part of the service that a probe checks. */
export type Component = 'database' | 'mail' | 'response';

/** The measurements of one process at one time; null where there was no response in time. */
export type Measured = { databaseMs: number | null; responseMs: number | null; failed: Component[] };

export type Incident = {
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

  /** Resolves when PostgreSQL responds and accepts writes. */
  async ping(): Promise<void> {
    const text = `select ${READ_ONLY_CAUSE} as cause`;
    const { rows } = await this.#core.query<{ cause: string | null }>({ name: 'status-ping', text });
    if (rows[0].cause) throw new Error(`The server is read-only: ${rows[0].cause}`);
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
    const [{ incidents, ...history }] = (await this.#core.query({ name: 'status-history', text: HISTORY })).rows;
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
