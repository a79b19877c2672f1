import { createHash, timingSafeEqual } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import type { Registry } from 'prom-client';
import { Fault } from '../../contract/errors.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import { READ_ONLY_CAUSE, READ_ONLY_TEXTS, type ReadOnlyCause } from '../db/reach.ts';
import { isFromThisMachine } from './loopback.ts';
import { dataHeaders } from './protection.ts';

/** One thing that must be there before requests can be served. */
export type Check = { name: string; ok: boolean; detail?: string };

export type HealthParts = {
  config: Pick<Config, 'metricsToken' | 'behindProxy' | 'secure'>;
  database: Database;
  /** What must be there beside the database. */
  checks(): Promise<Check[]>;
  /** Mails that are owed. */
  outboxDepth(): Promise<number>;
  /** Wrong six-digit codes since the process began. */
  wrongCodes(): number;
};

/** A frozen PostgreSQL must not hold an answer of ours longer than this. */
const CHECK_MS = 2_000;

/**
 * `GET /healthz`: the process lives. `GET /readyz`: 200 when it can serve, else 503 with what is missing.
 * `GET /metrics`: figures for Prometheus, to holders of METRICS_TOKEN, or without one to programs on this machine
 * when no proxy is in front.
 */
export function healthRouter(parts: HealthParts): Router {
  const { config, database } = parts;
  const answers = countAnswers();
  const router = Router();
  let metrics: Promise<Registry> | undefined;
  let looking: Promise<Check[]> | undefined;

  // Probes that come in while one is under way share its answer, so that a frozen PostgreSQL collects no waiting queries.
  const look = () => {
    looking ??= Promise.all([checkDatabase(database), bounded('service', parts.checks)])
      .then((groups) => groups.flat())
      .finally(() => {
        looking = undefined;
      });
    return looking;
  };

  router.use(['/healthz', '/readyz', '/metrics'], (_request, response, next) => {
    response.set(dataHeaders(config.secure));
    next();
  });
  router.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  router.get('/readyz', async (_request, response) => {
    const missing = (await look()).filter((check) => !check.ok);
    if (missing.length === 0) response.json({ status: 'ready' });
    else response.status(503).json({ status: 'not ready', missing: missing.map(({ name, detail }) => ({ name, detail })) });
  });
  router.get('/metrics', async (request, response) => {
    if (!mayRead(request, config)) throw new Fault('not_found');
    metrics ??= createMetrics(answers, parts);
    const registry = await metrics;
    response.type(registry.contentType).send(await registry.metrics());
  });
  return router;
}

/** Whether writes are possible; a write itself would cost every probe a commit, and would not find a full disk either. */
async function checkDatabase(database: Database): Promise<Check[]> {
  return bounded('database', async () => {
    const sql = `select to_regclass('migrations') is not null as migrated, ${READ_ONLY_CAUSE} as cause`;
    const [{ migrated, cause }] = (await database.core.query<{ migrated: boolean; cause: ReadOnlyCause | null }>(sql)).rows;
    if (cause) database.reconnect();
    return [
      { name: 'database', ok: cause === null, detail: cause ? `The server ${READ_ONLY_TEXTS[cause]}` : undefined },
      { name: 'migrations', ok: migrated },
    ];
  });
}

async function bounded(name: string, check: () => Promise<Check[]>): Promise<Check[]> {
  const late = new AbortController();
  const tooLate = sleep(CHECK_MS, [{ name, ok: false, detail: `no answer within ${CHECK_MS} ms` }], { signal: late.signal, ref: false });
  tooLate.catch(() => {});
  try {
    return await Promise.race([check(), tooLate]);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [{ name, ok: false, detail: code ?? message }];
  } finally {
    late.abort();
  }
}

function mayRead(request: IncomingMessage, { metricsToken, behindProxy }: HealthParts['config']): boolean {
  if (metricsToken) {
    const given = request.headers.authorization?.replace(/^Bearer +/i, '') ?? '';
    return timingSafeEqual(digest(given), digest(metricsToken));
  }
  return !behindProxy && isFromThisMachine(request);
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Answers by status, of every server in this process; costs a request nothing but an addition. */
function countAnswers(): Map<number, number> {
  const answers = new Map<number, number>();
  subscribe('http.server.response.finish', (message) => {
    const { statusCode } = (message as { response: ServerResponse }).response;
    answers.set(statusCode, (answers.get(statusCode) ?? 0) + 1);
  });
  return answers;
}

async function createMetrics(
  answers: Map<number, number>,
  { outboxDepth, wrongCodes }: Pick<HealthParts, 'outboxDepth' | 'wrongCodes'>,
): Promise<Registry> {
  const { collectDefaultMetrics, Counter, Gauge, Registry: Metrics } = await import('prom-client');
  const registry = new Metrics();
  collectDefaultMetrics({ register: registry });
  new Counter({
    name: 'emailauth_http_answers_total',
    help: 'Answers by status since the process began',
    labelNames: ['status'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [status, count] of answers) this.inc({ status }, count);
    },
  });
  new Counter({
    name: 'emailauth_wrong_codes_total',
    help: 'Wrong six-digit sign-in codes since the process began',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(wrongCodes());
    },
  });
  new Gauge({
    name: 'emailauth_outbox_mails',
    help: 'Mails that are owed, of all instances; absent while the database does not answer',
    registers: [registry],
    async collect() {
      this.reset();
      const depth = await Promise.race([outboxDepth().catch(() => null), sleep(CHECK_MS, null, { ref: false })]);
      if (depth !== null) this.set(depth);
    },
  });
  return registry;
}
