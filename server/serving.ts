import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from './config.ts';
import { type Database, type DatabaseRoute, openDatabase } from './db/database.ts';
import { holdServingLock } from './db/serving-lock.ts';
import { type Check, healthRouter } from './http/health.ts';
import { answerParserErrors } from './http/parser-errors.ts';
import { dataHeaders } from './http/protection.ts';
import type { Jobs } from './jobs/runner.ts';
import type { Log } from './log.ts';
import { createService, type Service } from './service.ts';
import { StartError } from './start-error.ts';

/** Somebody listens there already. */
export class PortInUse extends StartError {
  override name = 'PortInUse';

  constructor(host: string, port: number) {
    super(`Port ${port} of ${host} is in use. Stop what listens there, or choose another one: PORT=${port + 1}, or --port ${port + 1}.`);
  }
}

// Longer than the 60 s of usual balancers, so that the balancer closes an idle connection and not we, under its next request.
const KEEP_ALIVE_MS = 65_000;
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
/** While stopping: how long idle connections stay open, so that a request on its way is still answered. */
const GRACE_MS = 500;
/** How long requests under way may take once the listener is closed. With twice RELEASE_MS it is what a stop takes at most. */
const FINISH_MS = 4_000;
const RELEASE_MS = 1_500;

export type Serving = {
  /** Goes on serving, while /readyz answers 503 and each answer closes its connection. */
  drain(): void;
  /** Closes the listener, and finishes what is under way within 7 s. */
  stop(): Promise<void>;
};

/** Serves requests in this process until `stop`: the features, the HTTP server and the timed jobs. @throws PortInUse */
export async function serve(parts: { config: Config; route: DatabaseRoute; log: Log }): Promise<Serving> {
  const { config, route, log } = parts;
  const inUse = await holdServingLock(route.directUrl);
  const database = openDatabase(route);
  database.onReconnect(inUse.reconnect);
  let draining = false;
  let stopping = false;
  let jobs: Jobs | undefined;
  const checks = async (): Promise<Check[]> => [
    { name: 'jobs', ok: jobs?.ready() ?? false },
    { name: 'service', ok: !draining && !stopping, detail: 'stopping' },
  ];
  const health = healthRouter({
    config,
    database,
    checks,
    outboxDepth: () => service.outboxDepth(),
    wrongCodes: () => service.wrongCodes(),
  });
  const service: Service = await createService({
    config,
    database,
    log,
    routers: [health],
    ownAddress: () => (stopping ? null : (server.address() as AddressInfo | null)),
  });
  const streams = new Set<http.ServerResponse>();

  const server = http.createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      connectionsCheckingInterval: 5_000,
      // The service refuses a request without Host itself, with the headers of every answer.
      requireHostHeader: false,
    },
    (request, response) => {
      if (draining || stopping) response.setHeader('Connection', 'close');
      // An event stream has no end of its own; it is ended when the service stops.
      if (request.headers.accept === 'text/event-stream') {
        streams.add(response);
        response.once('close', () => streams.delete(response));
      }
      service.listener(request, response);
    },
  );

  answerParserErrors(server, service.listener, dataHeaders(config.secure));

  try {
    await listen(server, config);
    await service.start();
  } catch (error) {
    await Promise.all([closeAll(database, server), bounded(inUse.release())]);
    throw error;
  }
  const { Jobs } = await import('./jobs/runner.ts');
  const runner = new Jobs({
    databaseUrl: route.directUrl,
    log,
    releaseUnclaimed: service.releaseUnclaimed,
    removeUnneededUploads: service.removeUnneededUploads,
  });
  jobs = runner;
  database.onReconnect(() => runner.reconnect());

  return {
    drain: () => {
      draining = true;
    },
    stop: async () => {
      stopping = true;
      for (const stream of streams) stream.end();
      await Promise.all([finishRequests(server), bounded(jobs?.stop())]);
      await bounded(service.stop());
      await Promise.all([bounded(database.close()), bounded(inUse.release())]);
    },
  };
}

function listen(server: http.Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') return reject(new PortInUse(host, port));
      if (error.code === 'EACCES') return reject(new StartError(`This user may not listen on port ${port}. Choose one from 1024 on.`));
      if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
        return reject(new StartError(`HOST ${host} is no address of this machine. Give one that is, or 0.0.0.0 for all.`));
      reject(error);
    });
    server.listen({ host, port, backlog: 1024 }, resolve);
  });
}

/** Takes no more connections, lets requests under way finish, and closes the connections as they fall idle. */
async function finishRequests(server: http.Server): Promise<void> {
  // http.Server's own close also closes idle connections at once, under a request that may be on its way.
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

async function closeAll(database: Database, server: http.Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await bounded(database.close());
}

// A frozen PostgreSQL holds nobody back from stopping; what is undone then is durable and done at the next start.
async function bounded(ending: Promise<unknown> | undefined): Promise<void> {
  await Promise.race([Promise.resolve(ending).catch(() => {}), sleep(RELEASE_MS, null, { ref: false })]);
}
