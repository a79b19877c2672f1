import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import { Fault } from '../../../contract/errors.ts';
import type { Config } from '../config.ts';
import { READ_ONLY_CAUSE, type ReadOnlyCause } from '../db/client.ts';
import type { Database } from '../db/database.ts';
import { READ_ONLY_TEXTS } from '../db/examine.ts';
import { isFromThisMachine } from './client-address.ts';
import { dataHeaders } from './protection.ts';

/** One precondition for serving requests. */
export type Check = { name: string; ok: boolean; detail?: string };

type Parts = {
  config: Config;
  database: Database;
  /** Preconditions other than the database. */
  checks(): Promise<Check[]>;
  /** Returns since when emails cannot be sent, and why; null while they are sent. */
  failingMail(): { since: Date; reason: string } | null;
};

/** A frozen PostgreSQL must not delay a response longer than this. */
const CHECK_TIMEOUT_MS = 2_000;

/**
 * `GET /healthz`: 200 while the process runs. `GET /readyz`: 200 when it can serve requests, else 503 with what is missing; `mail` says
 * since when emails cannot be sent, which every instance shares and which is no reason to serve less.
 * `GET /metrics`: metrics of all processes for Prometheus, with METRICS_TOKEN as bearer token; when that is not set and no proxy is in front, for
 * programs on this machine.
 */
export function healthRouter(parts: Parts): Router {
  const { config, database } = parts;
  const router = Router();
  let running: Promise<Check[]> | undefined;

  // Concurrent probes share one check, so that no queries queue up at a frozen PostgreSQL.
  const check = () => {
    running ??= Promise.all([checkDatabase(database), checkInTime('service', parts.checks)])
      .then((groups) => groups.flat())
      .finally(() => {
        running = undefined;
      });
    return running;
  };

  router.use(['/healthz', '/readyz', '/metrics'], (_request, response, next) => {
    response.set(dataHeaders(config.secure));
    next();
  });
  router.get('/healthz', (_request, response) => void response.json({ status: 'ok' }));
  router.get('/readyz', async (_request, response) => {
    const missing = (await check()).filter(({ ok }) => !ok);
    const failing = parts.failingMail();
    const mail = failing ? { mail: `failing since ${failing.since.toISOString()}: ${failing.reason}` } : {};
    if (missing.length === 0) response.json({ status: 'ready', ...mail });
    else response.status(503).json({ status: 'not ready', missing: missing.map(({ name, detail }) => ({ name, detail })), ...mail });
  });
  router.get('/metrics', async (request, response) => {
    if (!mayReadMetrics(request, config)) throw new Fault('not_found');
    // prom-client is imported at the first use, which the start of the service does not wait for.
    const { formatMetrics } = await import('../metrics/reports.ts');
    const { contentType, text } = await formatMetrics();
    response.type(contentType).send(text);
  });
  return router;
}

/** Checks that the database accepts writes. It does not write: that costs a commit per probe, and would not detect a full disk either. */
async function checkDatabase(database: Database): Promise<Check[]> {
  return checkInTime('database', async () => {
    const sql = `select to_regclass('migrations') is not null as migrated, ${READ_ONLY_CAUSE} as cause`;
    const [{ migrated, cause }] = (await database.core.query<{ migrated: boolean; cause: ReadOnlyCause | null }>(sql)).rows;
    if (cause) database.reconnect();
    return [
      { name: 'database', ok: cause === null, detail: cause ? `The server ${READ_ONLY_TEXTS[cause]}` : undefined },
      { name: 'migrations', ok: migrated },
    ];
  });
}

/** Returns the result of a check, or a failed one when it rejects or takes too long. */
async function checkInTime(name: string, check: () => Promise<Check[]>): Promise<Check[]> {
  const finished = new AbortController();
  const timedOut = [{ name, ok: false, detail: `no response within ${CHECK_TIMEOUT_MS} ms` }];
  const timer = sleep(CHECK_TIMEOUT_MS, timedOut, { signal: finished.signal, ref: false });
  timer.catch(() => {});
  try {
    return await Promise.race([check(), timer]);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [{ name, ok: false, detail: code ?? message }];
  } finally {
    finished.abort();
  }
}

function mayReadMetrics(request: IncomingMessage, { metricsToken, behindProxy }: Config): boolean {
  if (metricsToken) {
    const given = request.headers.authorization?.replace(/^Bearer +/i, '') ?? '';
    return timingSafeEqual(digest(given), digest(metricsToken));
  }
  return !behindProxy && isFromThisMachine(request);
}

const digest = (text: string) => createHash('sha256').update(text).digest();
