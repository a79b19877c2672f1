// A stage of its own: its PostgreSQL is killed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { type Cluster, createCluster } from '../support/postgres.ts';
import { freshAddress, freshDomain, registerWebsite } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

let cluster: Cluster;
let stage: Stage;
let service: Service;
let shop: string;
beforeAll(async () => {
  cluster = await createCluster();
  stage = await openStage({ seesOutages: true, clusterUrl: cluster.url('postgres') });
  service = await stage.start();
  shop = await registerWebsite(service.client());
});
afterAll(async () => {
  await stage.close();
  await cluster.remove();
});

type Line = { msg: string; level: number; reference?: string; request?: string; requests?: number; err?: { stack?: string } };
/** Returns the log lines after the first `from` characters of the output. */
const linesSince = (from: number): Line[] =>
  service
    .output()
    .slice(from)
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line));
const withStack = (lines: Line[]) => lines.filter(({ err }) => err?.stack);

test('logs the start and the end of a database outage, not every request', { timeout: 120_000 }, async () => {
  const from = service.output().length;
  await cluster.kill();
  const statuses = new Set<number>();
  const references = new Set<string>();
  for (let round = 0; round < 20; round++) {
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        n % 2
          ? service.client().get(`/api/websites/domain/${shop}`)
          : service.client().post('/api/auth/domain-auth', { email: freshAddress(), forward_url: `https://${shop}/` }),
      ),
    );
    for (const { status, json } of responses) {
      statuses.add(status);
      references.add(json.reference);
    }
  }
  expect([...statuses]).toEqual([503]);
  await cluster.start();
  const begins = () => linesSince(from).filter(({ msg }) => msg.startsWith('database: a statement failed'));
  const ends = () => linesSince(from).filter(({ msg }) => msg === 'database: available again');
  await waitUntil('the end is logged', 60_000, () => ends().length > 0);
  await service.ready();
  expect(begins()).toHaveLength(1);
  expect(ends()).toHaveLength(1);
  expect(ends()[0].requests).toBeGreaterThanOrEqual(200);
  const lines = linesSince(from);
  expect([...references].filter((known) => !lines.some(({ reference }) => reference === known))).toEqual([]);
  expect(withStack(lines).length).toBeLessThanOrEqual(5);
  expect(lines.length).toBeLessThan(50);
});

test('logs the reference of every response with status 500, and the stack once', async () => {
  await stage.query('alter table websites rename column proven_at to proven');
  const from = service.output().length;
  try {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => service.client().post('/api/websites/register', { domain: freshDomain(), email: freshAddress() })),
    );
    expect([...new Set(responses.map(({ status }) => status))]).toEqual([500]);
    const references = responses.map(({ json }) => json.reference);
    expect(responses.map(({ headers }) => headers['x-request-id'])).toEqual(references);
    const logged = () => linesSince(from).filter(({ request }) => references.includes(request));
    await waitUntil('every reference is logged', 60_000, () => logged().length === references.length);
    expect(withStack(logged())).toHaveLength(1);
    expect(service.output().slice(from)).toContain('"code":"42703"');
  } finally {
    await stage.query('alter table websites rename column proven to proven_at');
  }
});

test('the request id is the trace id of the request, in its response and in the log lines about its email', async () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  const email = freshAddress();
  stage.mailbox.behave({ kind: 'refuse', addresses: [email] });
  try {
    const body = { email, forward_url: `https://${shop}/` };
    const response = await service.client().post('/api/auth/domain-auth', body, headers);
    expect([response.status, response.headers['x-request-id']]).toEqual([200, trace]);
    const lines = () => linesSince(0).filter(({ request }) => request === trace);
    await waitUntil('the refusal is logged with the request', 30_000, () => lines().length > 0);
    expect(lines()).toEqual([expect.objectContaining({ msg: 'mail: permanently refused', kind: 'sign_in' })]);
  } finally {
    stage.mailbox.behave({ kind: 'accept' });
  }
});
