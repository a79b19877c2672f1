// A stage of its own: its PostgreSQL is killed and frozen.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { type Cluster, createCluster } from '../support/postgres.ts';
import {
  addWebsite,
  authorize,
  freshAddress,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
  visitorToken,
} from '../support/sign-ins.ts';
import { repeatUntilEnded, waitUntil } from '../support/waiting.ts';
import { inRun, openPromise, waitWithin } from './full-run.ts';

// Killed and frozen by the tests, so not the shared cluster; it has PostgreSQL's default durability.
let cluster: Cluster;
let stage: Stage;
let service: Service;
let shop: string;
beforeAll(async () => {
  cluster = await createCluster();
  stage = await openStage({ seesOutages: true, clusterUrl: cluster.url('postgres') });
  service = await stage.start();
  shop = await addWebsite(stage, service);
});
afterAll(async () => {
  await cluster.thaw();
  await stage.close();
  await cluster.remove();
});

/** Waits until the service is ready and expects that within 2 s. */
function untilReady() {
  const client = service.client();
  return waitWithin(
    '/readyz returns 200',
    2000,
    () => client.get('/healthz'),
    async () => (await service.client().get('/readyz')).status === 200,
  );
}

test('loses no acknowledged sign-in and returns no 500 over kill -9 of PostgreSQL, and serves again within 2 s', {
  timeout: inRun({ short: 300_000, full: 1_800_000 }),
}, async () => {
  for (let i = 0; i < inRun({ short: 5, full: 20 }); i++) {
    const acknowledged: string[] = [];
    const statuses = new Set<number>();
    const request = async () => {
      const email = freshAddress();
      const response = await service.client().post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` });
      statuses.add(response.status);
      if (response.status === 200) acknowledged.push(email);
    };
    const load = Array.from({ length: 8 }, () => repeatUntilEnded(request));
    await waitUntil('some sign-ins are acknowledged', 30_000, () => acknowledged.length > 10 * i);
    await cluster.kill();
    await waitUntil('a request is refused', 30_000, () => statuses.has(503));
    await Promise.all(load.map((end) => end()));
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect((await service.client().get('/healthz')).status).toBe(200);
    await cluster.start();
    await untilReady();
    const rows = await stage.query('select email from sign_in_attempts');
    const kept = new Set(rows.map(({ email }) => email));
    expect(acknowledged.filter((email) => !kept.has(email))).toEqual([]);
    await waitUntil('every acknowledged email is delivered', 60_000, () =>
      acknowledged.every((email) => stage.mailbox.mailsFor(email).length > 0),
    );
  }
});

test('returns 503 within 3 s for every call and 200 for /healthz while PostgreSQL is frozen, and serves again within 2 s', {
  timeout: 180_000,
}, async () => {
  const { client, email } = await signInDeveloper(stage, service);
  const visitor = service.client();
  await requestEmail(visitor, freshAddress(), `https://${shop}/`);
  const token = await visitorToken(stage, service.client(), shop);
  const waiting = freshAddress();
  await requestEmail(visitor, waiting, `https://${shop}/`);
  const mail = await stage.mailbox.waitFor(waiting);
  // PostgreSQL executes after the thaw what it received before the freeze, so this link may be used or not.
  const undetermined = freshAddress();
  await requestEmail(visitor, undetermined, `https://${shop}/other`);
  const { link } = await stage.mailbox.waitFor(undetermined);
  await cluster.freeze();
  try {
    const calls = () => [
      service
        .client()
        .post(
          '/api/auth/domain-auth',
          { email: freshAddress(), forward_url: `https://${shop}/` },
          { Prefer: `page="/auth?forward_url=https://${shop}/"` },
        ),
      authorize(service.client()).then(({ response }) => response),
      service.client().get('/api/verify-token?token=unknown'),
      service.client().post('/api/auth/email-code', { email, code: '123456' }),
      visitor.get(link),
      client.get('/api/user/me'),
      client.get('/api/websites'),
      client.post('/api/websites', { domain: 'frozen.example' }),
      service.client().post('/api/websites/register', { domain: 'frozen.example', email }),
      service.client().get(`/api/websites/domain/${shop}`),
      service.client().get(`/auth?forward_url=https://${shop}/`, { Accept: 'text/html' }),
    ];
    for (let round = 0; round < 3; round++) {
      const promise = openPromise(() => service.client().get('/healthz'));
      const responses = await Promise.all(calls());
      await promise.expectWithin(3000);
      for (const response of responses) {
        expect([response.status, response.text.slice(0, 200)]).toEqual([503, expect.anything()]);
        expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
      }
      // A page for the visitor, not the JSON of a call.
      expect(responses[responses.length - 1].text).toContain('<h1');
      expect(responses[0].json).toMatchObject({ code: 'unavailable', error: expect.stringMatching(/\w+ \w+/) });
    }
    // A call waits 2.5 s for the database, in which a very busy machine may not send three responses; then it is repeated.
    await waitUntil('/healthz and /auth are answered while a call waits for the database', 60_000, async () => {
      let isWaiting = true;
      const waiting = client.get('/api/user/me').finally(() => {
        isWaiting = false;
      });
      expect((await service.client().get('/healthz')).status).toBe(200);
      expect((await service.client().get('/auth')).status).toBe(200);
      const wasWaiting = isWaiting;
      expect((await waiting).status).toBe(503);
      return wasWaiting;
    });
    expect((await service.client().get('/readyz')).status).toBe(503);
  } finally {
    await cluster.thaw();
  }
  await untilReady();
  expect((await client.get('/api/user/me')).status).toBe(200);
  expect(tokenOf(await openLink(visitor, mail))).not.toBe('');
  expect((await service.client().get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true });
});

test('answers 500 concurrent requests on a small pool without a 5xx', async () => {
  const { client } = await signInDeveloper(stage, service);
  const send = (number: number) =>
    Promise.all(
      Array.from({ length: number }, (_, i) =>
        i % 2
          ? client.get('/api/user/me')
          : service.client().post('/api/auth/domain-auth', { email: freshAddress(), forward_url: `https://${shop}/` }),
      ),
    );
  // A request waits at most 2.5 s, so send only as many as this machine handles in one second. When its load rises
  // meanwhile, that is too many, and the requests are sent again.
  let statuses: number[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const start = performance.now();
    await send(50);
    const responses = await send(Math.min(500, Math.ceil((50 * 1000) / (performance.now() - start))));
    statuses = [...new Set(responses.map(({ status }) => status))];
    if (statuses.join() === '200') break;
  }
  expect(statuses).toEqual([200]);
});
