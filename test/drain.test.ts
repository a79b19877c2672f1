import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Answer } from './client.ts';
import { hasHaproxy, startHaproxy } from './haproxy.ts';
import { openStage, type Service, type Stage } from './harness.ts';
import { addSite, registerSite } from './sign-ins.ts';
import { freePort, sleep, waitUntil } from './waiting.ts';

/** For whatever happens at once, on a busy machine. */
const SOON = 10_000;
/** A drain that only a second signal ends. */
const LONG = '300';
/** So that a machine that cannot carry the load is not buried by it. */
const MAX_UNDER_WAY = 100;
/** The service takes two signals within a second for one. */
const BETWEEN_SIGNALS_MS = 1_200;

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
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

test('after SIGTERM /readyz answers 503 for DRAIN_SECONDS while everything else is served; then the service ends', async () => {
  const service = await stage.start({ DRAIN_SECONDS: '3' });
  const shop = await addSite(stage, service);
  const keptAlive = service.client();
  await keptAlive.get('/healthz');
  const begun = performance.now();
  const stopped = service.stop();
  await waitUntil('/readyz answers 503', SOON, drains(service));
  expect((await readiness(service)).json.missing).toEqual([{ name: 'service', detail: 'stopping' }]);
  const answer = await keptAlive.get(`/api/websites/domain/${shop}`);
  expect([answer.status, answer.headers.connection]).toEqual([200, 'close']);
  expect(await stopped).toBe(0);
  expect(performance.now() - begun).toBeGreaterThan(2_900);
  expect(await refusesConnections(service)()).toBe(true);
});

test('the embedded PostgreSQL serves during the drain; a second signal cuts it short', { timeout: 90_000 }, async () => {
  const service = await stage.start({ DATABASE_URL: '', SECRET_KEY: '', DRAIN_SECONDS: LONG });
  service.signal('SIGTERM');
  await waitUntil('/readyz answers 503', SOON, drains(service));
  // npm hands a signal on that the process has had already.
  service.signal('SIGTERM');
  const answer = await service.client().get('/api/websites/domain/localhost');
  expect(answer.status).toBe(200);
  await sleep(BETWEEN_SIGNALS_MS);
  expect((await service.client().get('/api/websites/domain/localhost')).status).toBe(200);
  expect(await service.stop()).toBe(0);
});

/** A new connection each goes to the workers in turn. */
const fromEachWorker = (ask: () => Promise<Answer>) => Promise.all(Array.from({ length: 10 }, ask));
/** Whether an answer of /metrics comes from a process that began in a certain second, or later. */
const isSince = ({ text }: Answer, second: number) => Number(/^process_start_time_seconds (\d+)$/m.exec(text)?.[1]) >= second;

test('all workers drain together, and a worker that is replaced meanwhile drains too', { timeout: 90_000 }, async () => {
  const service = await stage.start({ WORKERS: '2', DRAIN_SECONDS: LONG });
  service.signal('SIGTERM');
  const allDrain = async () => {
    const answers = await fromEachWorker(() => readiness(service));
    return answers.every(({ status }) => status === 503) || answers.map(({ status }) => status).join();
  };
  await waitUntil('every worker answers 503', SOON, allDrain);
  const pids = () => [...new Set(Array.from(service.output().matchAll(/"worker":(\d+)/g), ([, pid]) => Number(pid)))];
  const children = await childrenOf(service.pid);
  expect(children).toHaveLength(2);
  const killedAt = Math.round(Date.now() / 1000);
  process.kill(children[0], 'SIGKILL');
  await waitUntil('the worker is replaced', SOON, async () => pids().includes(children[0]) && (await childrenOf(service.pid)).length === 2);
  await waitUntil('the new worker drains', SOON, async () => {
    const answers = await fromEachWorker(() => service.client().get('/metrics'));
    return answers.some((answer) => isSince(answer, killedAt) && answer.headers.connection === 'close');
  });
  await waitUntil('every worker answers 503 again', SOON, allDrain);
  await sleep(BETWEEN_SIGNALS_MS);
  expect(await service.stop()).toBe(0);
  expect(await refusesConnections(service)()).toBe(true);
});

if (!hasHaproxy) console.warn('\n!! The test with HAProxy is skipped: on Debian, apt-get install haproxy\n');

test.skipIf(!hasHaproxy)(
  'six restarts behind HAProxy lose none of 200 requests a second, also beside a busy process',
  {
    timeout: 300_000,
  },
  async () => {
    const ports = { a: await freePort(), b: await freePort() };
    const settings = (name: 'a' | 'b') => ({ PORT: String(ports[name]), PUBLIC_URL: 'http://localhost:1', DRAIN_SECONDS: '5' });
    const instances = { a: await stage.start(settings('a')), b: await stage.start(settings('b')) };
    const shop = await registerSite(instances.a.client());
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
 * Sends 200 requests a second, each on a connection of its own. One in ten asks the database, so that the machine of the
 * tests keeps up. `lost`: what was not answered with 200, and why.
 */
function startLoad(port: number, databasePath: string) {
  const begun = performance.now();
  const underWay = new Set<Promise<void>>();
  const lost: string[] = [];
  let sent = 0;
  const timer = setInterval(() => {
    for (; sent < (performance.now() - begun) / 5 && underWay.size < MAX_UNDER_WAY; sent++) {
      const path = sent % 10 === 0 ? databasePath : '/api/languages';
      const answered = send(port, path).then((problem) => {
        underWay.delete(answered);
        if (problem) lost.push(`${path}: ${problem}`);
      });
      underWay.add(answered);
    }
  }, 20);
  return {
    async end() {
      clearInterval(timer);
      await Promise.all(underWay);
      return { sent, lost };
    },
  };
}

/** @returns what went wrong, or null */
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
