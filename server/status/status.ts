import type { Output } from '../../contract/routes.ts';
import type { Probe, Probes } from './probes.ts';
import type { Component, History } from './store.ts';

type StatusAnswer = Output<'status'>;
type State = StatusAnswer['state'];

export type Status = {
  /** Never rejects: while the database is away it tells what this process sees, without history. */
  read(): Promise<StatusAnswer>;
  /** Of the last 30 days; null: not enough data yet. @throws Error while the history cannot be read */
  uptimePercent(): Promise<number | null>;
};

/** How old an answer may be, in ms. */
const FRESH_MS = 15_000;
const MAX_HISTORY_MS = 2_000;
/** Fewer minutes make no average. */
const MIN_MEASURED = 60;
/** An answer that takes longer, in ms, degrades its component. */
const SLOW = { database: 500, response: 1_000 };

export function createStatus(parts: { probes: Pick<Probes, 'fresh'>; history(): Promise<History> }): Status {
  let cached: { until: number; answer: Promise<StatusAnswer> } | null = null;

  const look = async (): Promise<StatusAnswer> => {
    const probe = await parts.probes.fresh(FRESH_MS);
    const history = probe.failed.includes('database') ? null : await inTime(parts.history());
    return { ...stateOf(probe), history: history && summaryOf(history, probe.failed.length > 0) };
  };

  const read = () => {
    const now = performance.now();
    if (!cached || now > cached.until) cached = { until: now + FRESH_MS, answer: look() };
    return cached.answer;
  };

  return {
    read,
    async uptimePercent() {
      const { history } = await read();
      if (!history) throw new Error('The history of the probes cannot be read');
      return history.uptimePercent;
    },
  };
}

/** What a probe says about each component and the whole. Without mails who is remembered still signs in. */
export function stateOf({ failed, databaseMs, responseMs, checkedAt }: Probe): Omit<StatusAnswer, 'history'> {
  const judge = (id: Component, slow: boolean) => ({
    id,
    state: failed.includes(id) ? ('down' as const) : slow ? ('degraded' as const) : ('operational' as const),
  });
  const components = [
    judge('database', (databaseMs ?? 0) > SLOW.database),
    judge('mail', false),
    judge('response', (responseMs ?? 0) > SLOW.response),
  ];
  let state: State = 'operational';
  if (components.some((component) => component.state !== 'operational')) state = 'degraded';
  if (components.some((component) => component.state === 'down' && component.id !== 'mail')) state = 'down';
  return { state, checkedAt: checkedAt.toISOString(), components };
}

/** @param failing whether the latest probe failed, so that an incident that did so lately goes on */
export function summaryOf({ since, responseMs, days, incidents }: History, failing: boolean): NonNullable<StatusAnswer['history']> {
  const measured = days.reduce((sum, day) => sum + day.measured, 0);
  const failed = days.reduce((sum, day) => sum + day.failed, 0);
  const enough = measured >= MIN_MEASURED;
  return {
    since: since?.toISOString() ?? null,
    // Rounded down, so that one failed minute never reads as 100.
    uptimePercent: enough ? Math.floor(((measured - failed) / measured) * 10_000) / 100 : null,
    responseMs: enough && responseMs !== null ? Math.round(responseMs * 10) / 10 : null,
    days,
    incidents: incidents.map(({ startedAt, endedAt, components, recent }, index) => ({
      startedAt: startedAt.toISOString(),
      endedAt: failing && recent && index === 0 ? null : endedAt.toISOString(),
      minutes: Math.max(1, Math.round((endedAt.getTime() - startedAt.getTime()) / 60_000)),
      components,
    })),
  };
}

function inTime(history: Promise<History>): Promise<History | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_HISTORY_MS, null);
    history.then(resolve, () => resolve(null)).finally(() => clearTimeout(timer));
  });
}
