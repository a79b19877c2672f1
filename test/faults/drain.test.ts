// A stage of its own: its instances drain and end.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpResponse } from '../support/client.ts';
import { hasHaproxy, startHaproxy } from '../support/haproxy.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, registerWebsite } from '../support/sign-ins.ts';
import { freePort, waitUntil } from '../support/waiting.ts';

/** Guards against hanging; the conditions hold at once on an idle machine. */
const TIMEOUT_MS = 30_000;
/** DRAIN_SECONDS of a drain that only a second signal ends. */
const LONG = '300';
/** Bounds the load on a machine that cannot keep up with it. */
const MAX_IN_PROGRESS = 100;
/** The service counts two signals within a second as one. */
const BETWEEN_SIGNALS_MS = 1_200;

/** Waits until the service counts another signal as a second one. */
async function untilNextSignal(): Promise<void> {
  const next = performance.now() + BETWEEN_SIGNALS_MS;
  await waitUntil('a signal counts as another one', TIMEOUT_MS, () => performance.now() >= next);
}

let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ seesOutages: true });
});
afterAll(() => stage.close());

const readiness = (service: Service) => service.client().get('/readyz');
const drains = (service: Service) => async () => (await readiness(service)).status === 503;
const refusesConnections = (service: Service) => () =>
  service
    .client()
    .get('/healthz')
    .then(
      () => false,
      (error: Error) => /ECONNREFUSED|ECONNRESET/.test(error.message),
    );

test('after SIGTERM /readyz returns 503 for DRAIN_SECONDS while all other requests are served; then the service exits', async () => {
  const service = await stage.start({ DRAIN_SECONDS: LONG });
  const shop = await addWebsite(stage, service);
  const keptAlive = service.client();
  await keptAlive.get('/healthz');
  service.signal('SIGTERM');
  await waitUntil('/readyz returns 503', TIMEOUT_MS, drains(service));
  expect((await readiness(service)).json.missing).toEqual([{ name: 'service', detail: 'stopping' }]);
  const response = await keptAlive.get(`/api/websites/domain/${shop}`);
  expect([response.status, response.headers.connection]).toEqual([200, 'close']);
  await service.kill();

  const brief = await stage.start({ DRAIN_SECONDS: '2' });
  const start = performance.now();
  expect(await brief.stop()).toBe(0);
  expect(performance.now() - start).toBeGreaterThan(1_900);
  expect(await refusesConnections(brief)()).toBe(true);
});

test('a SIGHUP without a terminal is logged and ignored', async () => {
  const service = await stage.start({ DATABASE_URL: '', SECRET_KEY: '' });
  service.signal('SIGHUP');
  await waitUntil('the signal is logged', TIMEOUT_MS, () => service.output().includes('SIGHUP ignored'));
  expect((await service.client().get('/api/websites/domain/localhost')).status).toBe(200);
  expect(await service.stop()).toBe(0);
});

test('the embedded PostgreSQL runs during the drain, and a second signal ends the drain', { timeout: 90_000 }, async () => {
  const service = await stage.start({ DATABASE_URL: '', SECRET_KEY: '', DRAIN_SECONDS: LONG });
  // npm forwards the Ctrl-C that the process has already received. Two different signals, which the kernel does not merge.
  service.signal('SIGINT');
  service.signal('SIGTERM');
  await waitUntil('/readyz returns 503', TIMEOUT_MS, drains(service));
  const response = await service.client().get('/api/websites/domain/localhost');
  expect(response.status).toBe(200);
  await untilNextSignal();
  expect((await service.client().get('/api/websites/domain/localhost')).status).toBe(200);
  expect(await service.stop()).toBe(0);
});

/** Sends ten requests on new connections, which go to the workers in turn. A worker that is killed meanwhile gives null. */
const fromEachWorker = (send: () => Promise<HttpResponse>) => Promise.all(Array.from({ length: 10 }, () => send().catch(() => null)));
/** Returns whether a response of /metrics comes from a process that started in a certain second or later. */
const isSince = ({ text }: HttpResponse, second: number) => Number(/^process_start_time_seconds (\d+)$/m.exec(text)?.[1]) >= second;

test('all workers drain together, including a worker that is replaced meanwhile', { timeout: 90_000 }, async () => {
  const service = await stage.start({ WORKERS: '2', DRAIN_SECONDS: LONG });
  // A service that is stopped while it starts does not drain; the first worker is ready before the second one.
  await waitUntil('all workers serve', TIMEOUT_MS, () => service.output().includes('"listening"'));
  service.signal('SIGTERM');
  const allDrain = async () => {
    const responses = await fromEachWorker(() => readiness(service));
    return responses.every((response) => response?.status === 503) || responses.map((response) => response?.status).join();
  };
  await waitUntil('every worker returns 503', TIMEOUT_MS, allDrain);
  const pids = () => [...new Set(Array.from(service.output().matchAll(/"worker":(\d+)/g), ([, pid]) => Number(pid)))];
  const children = await childrenOf(service.pid);
  expect(children).toHaveLength(2);
  const killedAt = Math.round(Date.now() / 1000);
  process.kill(children[0], 'SIGKILL');
  await waitUntil(
    'the worker is replaced',
    TIMEOUT_MS,
    async () => pids().includes(children[0]) && (await childrenOf(service.pid)).length === 2,
  );
  await waitUntil('the new worker drains', TIMEOUT_MS, async () => {
    const responses = await fromEachWorker(() => service.client().get('/metrics'));
    return responses.some((response) => response && isSince(response, killedAt) && response.headers.connection === 'close');
  });
  await waitUntil('every worker returns 503 again', TIMEOUT_MS, allDrain);
  await untilNextSignal();
  expect(await service.stop()).toBe(0);
  expect(await refusesConnections(service)()).toBe(true);
});

describe('a service that is stopped while one of its workers starts', () => {
  /** Starts a service whose second worker does not get any further until it is continued. */
  async function startHalf(): Promise<{ service: Service; halted: number; workers: number[] }> {
    const before = await childrenOf(process.pid);
    const starting = stage.start({ WORKERS: '2', DRAIN_SECONDS: '3' });
    let workers: number[] = [];
    await waitUntil('both workers begin', TIMEOUT_MS, async () => {
      const added = (await childrenOf(process.pid)).filter((pid) => !before.includes(pid));
      workers = (await Promise.all(added.map(childrenOf))).flat();
      return workers.length === 2;
    });
    process.kill(workers[1], 'SIGSTOP');
    const service = await starting;
    expect(service.output()).not.toContain('"listening"');
    return { service, halted: workers[1], workers };
  }
  const isRunning = (pid: number) => existsSync(`/proc/${pid}`);

  test('drains the worker that serves, and stops the other one once it has started', { timeout: 90_000 }, async () => {
    const { service, halted, workers } = await startHalf();
    const keptAlive = service.client();
    await keptAlive.get('/healthz');
    const start = performance.now();
    const stopped = service.stop();
    await waitUntil('/readyz returns 503', TIMEOUT_MS, drains(service));
    expect((await keptAlive.get('/api/languages')).status).toBe(200);
    process.kill(halted, 'SIGCONT');
    expect(await stopped).toBe(0);
    expect(performance.now() - start).toBeGreaterThan(2_900);
    expect(service.output()).toContain('draining');
    expect(workers.filter(isRunning)).toEqual([]);
  });

  test('leaves no worker behind that does not get any further', { timeout: 90_000 }, async () => {
    const { service, workers } = await startHalf();
    expect(await service.stop()).toBe(0);
    expect(service.output()).toContain('"stopped"');
    expect(workers.filter(isRunning)).toEqual([]);
  });
});

if (!hasHaproxy) console.warn('\n!! The test with HAProxy is skipped: on Debian, apt-get install haproxy\n');

test.skipIf(!hasHaproxy)(
  'six restarts behind HAProxy lose none of 200 requests a second, also while a busy process runs',
  {
    timeout: 300_000,
  },
  async () => {
    const ports = { a: await freePort(), b: await freePort() };
    const settings = (name: 'a' | 'b') => ({ PORT: String(ports[name]), PUBLIC_URL: 'http://localhost:1', DRAIN_SECONDS: '5' });
    const instances = { a: await stage.start(settings('a')), b: await stage.start(settings('b')) };
    const shop = await registerWebsite(instances.a.client());
    const haproxy = await startHaproxy(ports);
    let busy: ChildProcess | undefined;
    let load: ReturnType<typeof startLoad> | undefined;
    try {
      await haproxy.bothUp();
      load = startLoad(haproxy.port, `/api/websites/domain/${shop}`);
      for (const [restart, name] of (['a', 'b', 'a', 'b', 'a', 'b'] as const).entries()) {
        if (restart === 3) busy = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
        expect(await instances[name].stop()).toBe(0);
        instances[name] = await stage.start(settings(name));
        await haproxy.bothUp();
      }
      const { sent, lost } = await load.end();
      expect(lost).toEqual([]);
      expect(sent).toBeGreaterThan(5_000);
    } finally {
      await load?.end();
      busy?.kill('SIGKILL');
      await haproxy.stop();
    }
  },
);

/**
 * Sends 200 requests a second, each on a new connection. Only one in ten needs the database, so that the machine keeps up.
 * `lost` has the requests without a 200 and why.
 */
function startLoad(port: number, databasePath: string) {
  const start = performance.now();
  const inProgress = new Set<Promise<void>>();
  const lost: string[] = [];
  let sent = 0;
  const timer = setInterval(() => {
    for (; sent < (performance.now() - start) / 5 && inProgress.size < MAX_IN_PROGRESS; sent++) {
      const path = sent % 10 === 0 ? databasePath : '/api/languages';
      const request = send(port, path).then((problem) => {
        inProgress.delete(request);
        if (problem) lost.push(`${path}: ${problem}`);
      });
      inProgress.add(request);
    }
  }, 20);
  return {
    async end() {
      clearInterval(timer);
      await Promise.all(inProgress);
      return { sent, lost };
    },
  };
}

/** Sends a GET request on a new connection. @returns what went wrong, or null */
function send(port: number, path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path, agent: false, timeout: 30_000, headers: { Host: 'localhost' } });
    sent.on('timeout', () => sent.destroy(new Error('no answer within 30 s')));
    sent.on('error', (error) => resolve(error.message));
    sent.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode === 200 ? null : `status ${response.statusCode}`));
      response.on('error', (error) => resolve(error.message));
    });
    sent.end();
  });
}

async function childrenOf(pid: number): Promise<number[]> {
  const ps = spawn('ps', ['-o', 'pid=', '--ppid', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  ps.stdout.on('data', (chunk) => {
    text += chunk;
  });
  await once(ps, 'close');
  return text.trim().split(/\s+/).filter(Boolean).map(Number);
}
