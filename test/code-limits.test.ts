import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client } from './client.ts';
import { openStage, production, type Service, type Stage } from './harness.ts';
import { addSite, freshAddress, openLink } from './sign-ins.ts';
import { waitUntil } from './waiting.ts';

// Two instances as in production, behind a proxy, so that a test speaks for many networks.
let stage: Stage;
let service: Service;
let second: Service;
let shop: string;
beforeAll(async () => {
  stage = await openStage();
  const settings = { ...production, TRUST_PROXY: '1' };
  service = await stage.start(settings);
  second = await stage.start({ ...settings, PUBLIC_URL: service.url });
  shop = await addSite(stage, service);
});
beforeEach(() => stage.query('truncate sign_in_limits, rate_limits'));
afterAll(() => stage.close());

const STRANGER = '198.51.100.1';
const VISITOR = '203.0.113.1';

type Begun = { client: Client; email: string; code: string; mail: Awaited<ReturnType<Stage['mailbox']['waitFor']>> };

/** A sign-in that waits for its code. */
async function begin(network: string): Promise<Begun> {
  const [client, email] = [service.client(), freshAddress()];
  const answer = await client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` }, { 'X-Forwarded-For': network });
  expect(answer.status).toBe(200);
  const mail = await stage.mailbox.waitFor(email);
  return { client, email, code: mail.code, mail };
}

const enter = (client: Client, email: string, code: string, network: string) =>
  client.post('/api/auth/email-code', { email, code }, { 'X-Forwarded-For': network });
const wrongOf = (code: string) => (code === '000000' ? '000001' : '000000');
const tryWrong = ({ client, email, code }: Begun, network: string) => enter(client, email, wrongOf(code), network);
const setTotal = (hits: number) => stage.query("insert into sign_in_limits values ('wrong codes', $1, now() + interval '1 hour')", [hits]);

test('a network has twenty wrong codes an hour; then its codes are refused and its links work', async () => {
  const attempts = [];
  for (let i = 0; i < 5; i++) attempts.push(await begin(STRANGER));
  for (const attempt of attempts.slice(0, 4))
    for (let i = 0; i < 5; i++) expect((await tryWrong(attempt, STRANGER)).json.code).toBe('bad_code');
  const last = attempts[4];
  const refused = await enter(last.client, last.email, last.code, STRANGER);
  expect([refused.status, refused.json.code, refused.json.error]).toEqual([
    429,
    'rate_limited',
    'Too many wrong codes. Use the link in the email.',
  ]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3000);
  expect((await enter(last.client, last.email, last.code, VISITOR)).status).toBe(200);
  const another = await begin(STRANGER);
  await openLink(another.client, another.mail);
});

test('wrong codes of a thousand strangers refuse no network without wrong codes of its own', async () => {
  await setTotal(1000);
  const [one, other] = [await begin(VISITOR), await begin('203.0.113.2')];
  expect((await enter(one.client, one.email, one.code, VISITOR)).status).toBe(200);
  expect((await tryWrong(other, '203.0.113.2')).json.code).toBe('bad_code');
  expect((await enter(other.client, other.email, other.code, '203.0.113.2')).status).toBe(429);
  await openLink(other.client, other.mail);
});

test('codes that race from one network on two instances are compared at most twenty times, and once more for what is under way', async () => {
  const attempts = await Promise.all(Array.from({ length: 30 }, (_, i) => begin(`198.51.100.${i}`)));
  const at = (from: Service, { client }: Begun) => Object.assign(from.client(), { cookies: client.cookies });
  const tries = attempts.flatMap((attempt) =>
    Array.from({ length: 5 }, (_, i) => enter(at(i % 2 ? service : second, attempt), attempt.email, wrongOf(attempt.code), VISITOR)),
  );
  const compared = (await Promise.all(tries)).filter(({ json }) => json.code === 'bad_code');
  expect(compared.length).toBeGreaterThanOrEqual(20);
  expect(compared.length).toBeLessThanOrEqual(20 + 2 * 8);
  const [{ hits }] = await stage.query('select hits from sign_in_limits where key = $1', [`wrong codes ${VISITOR}`]);
  expect(hits).toBe(compared.length);
});

test('the wrong code that reaches the limit of all is logged once, by one instance, and each is in the metrics', async () => {
  const metric = async () => {
    const { text } = await service.client().get('/metrics');
    return Number(/^emailauth_wrong_codes_total (\d+)$/m.exec(text)?.[1]);
  };
  const alarms = () => `${service.output()}${second.output()}`.match(/somebody may be guessing codes/g)?.length ?? 0;
  const [before, alarmsBefore] = [await metric(), alarms()];
  const attempts = await Promise.all(Array.from({ length: 10 }, (_, i) => begin(`198.51.100.${i}`)));
  await setTotal(996);
  await Promise.all(
    attempts.map(({ client, email, code }, i) =>
      enter(Object.assign((i % 2 ? service : second).client(), { cookies: client.cookies }), email, wrongOf(code), `198.51.100.${i}`),
    ),
  );
  await waitUntil('the alarm is logged', 10_000, () => alarms() > alarmsBefore || 'not yet');
  expect(await metric()).toBe(before + 5);
  for (const attempt of attempts.slice(0, 2)) await tryWrong(attempt, '203.0.113.50');
  await Promise.all([service.stop(), second.stop()]);
  expect(alarms()).toBe(alarmsBefore + 1);
  const line = `${service.output()}${second.output()}`.split('\n').find((text) => text.includes('somebody may be guessing codes'));
  expect(JSON.parse(line ?? '')).toMatchObject({ level: 50, wrongCodes: 1000 });
});
