import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Jobs } from './operations/jobs/jobs.ts';
import type { Config } from './platform/config.ts';
import { type Database, type DatabaseRoute, openDatabase } from './platform/db/database.ts';
import { holdServingLock } from './platform/db/serving-lock.ts';
import { handleParserErrors } from './platform/http/errors.ts';
import { type Check, healthRouter } from './platform/http/health.ts';
import { dataHeaders } from './platform/http/protection.ts';
import { observeResponses } from './platform/http/request-record.ts';
import type { Log } from './platform/log.ts';
import { workers } from './platform/metrics/metrics.ts';
import { SecretKeys } from './platform/secrets.ts';
import { StartError } from './platform/start-error.ts';
import { createService, type Service } from './service.ts';

/** The port is in use. */
export class PortInUse extends StartError {
  override name = 'PortInUse';

  constructor(host: string, port: number) {
    super(
      `Port ${port} of ${host} is in use. Stop the program that listens there, or choose another port: PORT=${port + 1}, or --port ${port + 1}.`,
    );
  }
}

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/*
 * The time limits of a stop, for which the operator gives DRAIN_SECONDS and 10 s:
 * - main.ts waits 1.5 s for a start under way and, after the drain, 8 s for everything below. Then the process ends.
 * - With WORKERS, workers.ts gives every worker 7.5 s, then kills it.
 * - A process stops within 7 s: 4 s for requests (FINISH_MS) and meanwhile 1.5 s for jobs, then 1.5 s for the features, the outbox among
 *   them, and 1.5 s for the database (RELEASE_MS each). The outbox alone would take up to 8 s (its ABANDON_MS) and the jobs 2 s.
 * - The embedded PostgreSQL stops last, within 3 s; its supervisor stops it also when this process has ended.
 */
/** How long idle connections stay open, so that a request on its way is still served. */
const GRACE_MS = 500;
const FINISH_MS = 4_000;
const RELEASE_MS = 1_500;

export type Serving = {
  /** Continues to serve, while /readyz responds with 503 and every response closes its connection. @returns false when nothing serves */
  drain(): boolean;
  /** Closes the listener and finishes requests under way, within 7 s. */
  stop(): Promise<void>;
};

type Parts = { config: Config; route: DatabaseRoute; log: Log };

/** Serves requests in this process until `stop`: features, HTTP server and scheduled jobs. @throws PortInUse */
export async function serve(parts: Parts): Promise<Serving> {
  const { config, route } = parts;
  const locking = holdServingLock(route.directUrl, config.secretKey);
  const database = openDatabase(route, { isLocal: config.mode === 'local' });
  // The features are created while PostgreSQL accepts both connections. `locking` is awaited below, and a request connects again.
  locking.catch(() => {});
  void database.core.query('select').catch(() => {});
  const serving = new ServingProcess(parts, database);
  const release = () => Promise.all([withTimeout(database.close()), withTimeout(locking.then((lock) => lock.release()))]);
  try {
    const lock = await locking;
    database.onReconnect(() => lock.reconnect());
    await listen(serving.server, config);
    await serving.start();
  } catch (error) {
    serving.server.close();
    serving.server.closeAllConnections();
    await release();
    throw error;
  }
  return {
    drain: () => {
      serving.drain();
      return true;
    },
    stop: async () => {
      await serving.stop();
      await release();
    },
  };
}

/** The features, the HTTP server and the jobs of one process. */
class ServingProcess {
  readonly service: Service;
  readonly server: http.Server;
  readonly #parts: Parts;
  readonly #database: Database;
  /** Responses that are event streams, which end only when the service stops. */
  readonly #streams = new Set<http.ServerResponse>();
  #jobs: Jobs | undefined;
  #state: 'serving' | 'draining' | 'stopping' = 'serving';

  constructor(parts: Parts, database: Database) {
    const { config, log } = parts;
    this.#parts = parts;
    this.#database = database;
    const health = healthRouter({
      config,
      database,
      checks: async () => this.#checks(),
      failingMail: () => this.service.failingMail(),
    });
    const ownAddress = () => (this.#state === 'stopping' ? null : (this.server.address() as AddressInfo | null));
    observeResponses();
    workers.readBy(() => [{ value: 1 }]);
    const secretKeys = new SecretKeys(config.secretKey, config.previousSecretKey);
    this.service = createService({ config, secretKeys, database, log, routers: [health], ownAddress });
    this.server = http.createServer(
      {
        keepAliveTimeout: config.keepAliveSeconds * 1_000,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: 5_000,
        // The service itself refuses a request without Host, with the headers of every response.
        requireHostHeader: false,
      },
      (request, response) => this.#handle(request, response),
    );
    handleParserErrors(this.server, this.service.listener, dataHeaders(config.secure));
  }

  /** Starts the features, and then the jobs. */
  async start(): Promise<void> {
    await this.service.start();
    const { route, log } = this.#parts;
    const jobs = new Jobs({ databaseUrl: route.directUrl, log, jobs: this.service.jobs });
    this.#jobs = jobs;
    this.#database.onReconnect(() => jobs.reconnect());
  }

  drain(): void {
    if (this.#state === 'serving') this.#state = 'draining';
  }

  async stop(): Promise<void> {
    this.#state = 'stopping';
    for (const stream of this.#streams) stream.end();
    this.service.endWaits();
    await Promise.all([finishRequests(this.server), withTimeout(this.#jobs?.stop())]);
    await withTimeout(this.service.stop());
  }

  #checks(): Check[] {
    return [
      { name: 'jobs', ok: this.#jobs?.ready() ?? false },
      { name: 'service', ok: this.#state === 'serving', detail: 'stopping' },
    ];
  }

  #handle(request: http.IncomingMessage, response: http.ServerResponse): void {
    if (this.#state !== 'serving') response.setHeader('Connection', 'close');
    if (request.headers.accept === 'text/event-stream') {
      this.#streams.add(response);
      response.once('close', () => this.#streams.delete(response));
    }
    this.service.listener(request, response);
  }
}

function listen(server: http.Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return reject(new PortInUse(host, port));
      if (error.code === 'EACCES') return reject(new StartError(`This user may not listen on port ${port}. Choose a port from 1024.`));
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
        return reject(new StartError(`HOST ${host} is not an address of this machine. Give one of its addresses, or 0.0.0.0 for all.`));
      reject(error);
    });
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
}

/** Stops accepting connections, waits for requests under way, and closes connections as they become idle. */
async function finishRequests(server: http.Server): Promise<void> {
  // http.Server.close would also close idle connections immediately, on which a request may be on its way.
  const closed = new Promise<void>((resolve) => {
    net.Server.prototype.close.call(server, () => resolve());
  });
  const end = Date.now() + FINISH_MS;
  if (await Promise.race([closed.then(() => true), sleep(GRACE_MS, false)])) return;
  let open = true;
  void closed.then(() => {
    open = false;
  });
  while (open && Date.now() < end) {
    server.closeIdleConnections();
    await sleep(25);
  }
  server.closeAllConnections();
}

/** Waits for work at most RELEASE_MS, so that a frozen PostgreSQL cannot prevent the stop. Unfinished work continues after the next start. */
async function withTimeout(work: Promise<unknown> | undefined): Promise<void> {
  await Promise.race([Promise.resolve(work).catch(() => {}), sleep(RELEASE_MS, null, { ref: false })]);
}
