// A stage of its own: it fills the count of all wrong codes.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client } from '../support/client.ts';
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, freshAddress, openLink } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

// Two instances with production limits behind a proxy, so that a test can send from many networks.
let stage: Stage;
let service: Service;
let second: Service;
let shop: string;
beforeAll(async () => {
  stage = await openStage();
  const settings = { ...production, TRUST_PROXY: '1', METRICS_TOKEN };
  service = await stage.start(settings);
  second = await stage.start({ ...settings, PUBLIC_URL: service.url });
  shop = await addWebsite(stage, service);
});
beforeEach(() => stage.query('truncate rate_limits'));
afterAll(() => stage.close());

const METRICS_TOKEN = 'a-token-for-the-metrics';
const STRANGER = '198.51.100.1';
const VISITOR = '203.0.113.1';

type Begun = { client: Client; email: string; code: string; mail: Awaited<ReturnType<Stage['mailbox']['waitFor']>> };

/** Starts a sign-in and waits for its email. */
const begin = (network: string): Promise<Begun> => request(service.client(), freshAddress(), network);

async function request(client: Client, email: string, network: string): Promise<Begun> {
  const response = await client.post('/api/auth/domain-auth', { email, forward_url: `https://${shop}/` }, { 'X-Forwarded-For': network });
  expect(response.status).toBe(200);
  const mail = await stage.mailbox.waitFor(email);
  return { client, email, code: mail.code, mail };
}

const enter = (client: Client, email: string, code: string, network: string) =>
  client.post('/api/auth/email-code', { email, code }, { 'X-Forwarded-For': network });
const wrongOf = (code: string) => (code === '000000' ? '000001' : '000000');
const tryWrong = ({ client, email, code }: Begun, network: string) => enter(client, email, wrongOf(code), network);
/** Returns the browser of an attempt at another instance. */
const at = (from: Service, { client }: Begun) => Object.assign(from.client(), { cookies: client.cookies });
const setTotal = (hits: number) => stage.query("insert into rate_limits values ('wrong codes', $1, now() + interval '1 hour')", [hits]);

test('a network may enter twenty wrong codes an hour; then its codes are rejected and its links still work', async () => {
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

test('a thousand wrong codes of other networks do not block a network without wrong codes of its own', async () => {
  await setTotal(1000);
  const [one, other] = [await begin(VISITOR), await begin('203.0.113.2')];
  expect((await enter(one.client, one.email, one.code, VISITOR)).status).toBe(200);
  expect((await tryWrong(other, '203.0.113.2')).json.code).toBe('bad_code');
  expect((await enter(other.client, other.email, other.code, '203.0.113.2')).status).toBe(429);
  await openLink(other.client, other.mail);
});

// A code is compared with the codes of all open emails of a browser, so that a try needs room for as many guesses.
test.each([998, 999])('a right code is refused where a wrong one is, with %i wrong codes in total and three emails', async (total) => {
  const emails = [await begin(VISITOR)];
  const [{ client, email }] = emails;
  for (const network of ['203.0.113.2', '203.0.113.3']) {
    const { code, mail } = await request(client, email, network);
    emails.push({ client, email, code, mail });
  }
  await setTotal(total + 200);
  for (const code of [wrongOf(emails[0].code), emails[0].code]) expect((await enter(client, email, code, STRANGER)).status).toBe(429);
  await openLink(client, emails[2].mail);
});

test('the wrong code that reaches the total limit is logged once, by one instance, and every wrong code is in the metrics', async () => {
  const instances = [service, second];
  const authorization = { Authorization: `Bearer ${METRICS_TOKEN}` };
  const countedAt = async (instance: Service) => {
    const { text } = await instance.client().get('/metrics', authorization);
    return Number(/^emailauth_wrong_codes_total (\d+)$/m.exec(text)?.[1] ?? 0);
  };
  const warnings = () =>
    instances.flatMap((instance) =>
      instance
        .output()
        .split('\n')
        .filter((line) => line.includes('guessing codes')),
    );
  const before = [await countedAt(service), await countedAt(second)];
  const warned = warnings().length;
  const attempts = await Promise.all(Array.from({ length: 10 }, (_, i) => begin(`198.51.100.${i}`)));
  await setTotal(996);
  await Promise.all(
    attempts.map((attempt, i) => enter(at(instances[i % 2], attempt), attempt.email, wrongOf(attempt.code), `198.51.100.${i}`)),
  );
  for (const [i, instance] of instances.entries()) {
    await waitUntil('the metrics have five more wrong codes', 30_000, async () => {
      const count = (await countedAt(instance)) - before[i];
      return count === 5 || `${count}`;
    });
  }
  await waitUntil('it is logged', 30_000, () => warnings().length > warned);
  expect(
    warnings()
      .slice(warned)
      .map((line) => JSON.parse(line)),
  ).toEqual([expect.objectContaining({ level: 50, wrongCodes: 1000 })]);
});

const statusesOf = (responses: { status: number }[]) => {
  const counts: Record<number, number> = {};
  for (const { status } of responses) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const comparedOf = async (attempts: Begun[]) => {
  const emails = attempts.map(({ email }) => email);
  const [{ compared }] = await stage.query('select sum(code_tries)::int as compared from sign_in_attempts where email = any($1)', [emails]);
  return compared;
};

test('an IPv6 /48 may enter twenty wrong codes an hour together, and another one still enters its code', async () => {
  const attempts = [];
  for (let i = 0; i < 6; i++) attempts.push(await begin(`2001:db8:5:${i}::1`));
  for (const [i, attempt] of attempts.slice(0, 4).entries())
    for (let n = 0; n < 5; n++) expect((await tryWrong(attempt, `2001:db8:5:${i}${n}::1`)).json.code).toBe('bad_code');
  const [one, other] = attempts.slice(4);
  expect((await enter(one.client, one.email, one.code, '2001:db8:5:ffff::1')).status).toBe(429);
  expect((await enter(one.client, one.email, one.code, '2001:db8:6::1')).status).toBe(200);
  expect((await tryWrong(other, '198.51.100.2')).json.code).toBe('bad_code');
});

test('fifty wrong codes at once, of one network at two instances, are compared exactly twenty times', async () => {
  const attempts = await Promise.all(Array.from({ length: 10 }, (_, i) => begin(`198.51.100.${i}`)));
  const tries = attempts.flatMap((attempt) =>
    Array.from({ length: 5 }, (_, i) => enter(at(i % 2 ? service : second, attempt), attempt.email, wrongOf(attempt.code), VISITOR)),
  );
  expect(statusesOf(await Promise.all(tries))).toEqual({ 400: 20, 429: 30 });
  expect(await comparedOf(attempts)).toBe(20);
});

test('fifty right codes at once, of a network with nineteen wrong ones, are all accepted', async () => {
  const attempts = await Promise.all(Array.from({ length: 50 }, (_, i) => begin(`198.51.100.${i}`)));
  await stage.query("insert into rate_limits values ('wrong codes ' || $1, 19, now() + interval '1 hour')", [VISITOR]);
  const entered = attempts.map((attempt, i) => enter(at(i % 2 ? service : second, attempt), attempt.email, attempt.code, VISITOR));
  expect(statusesOf(await Promise.all(entered))).toEqual({ 200: 50 });
});

test('beyond the total, two hundred networks without a wrong code may enter one each, exactly also at once', async () => {
  await setTotal(1195);
  const attempts = await Promise.all(Array.from({ length: 50 }, (_, i) => begin(`198.51.100.${i}`)));
  const tries = attempts.map((attempt, i) =>
    enter(at(i % 2 ? service : second, attempt), attempt.email, wrongOf(attempt.code), `198.51.100.${i}`),
  );
  expect(statusesOf(await Promise.all(tries))).toEqual({ 400: 5, 429: 45 });
  expect(await comparedOf(attempts)).toBe(5);
  const [{ hits }] = await stage.query("select hits from rate_limits where key = 'wrong codes'");
  expect(hits).toBe(1200);
  const other = await begin(VISITOR);
  expect((await enter(other.client, other.email, other.code, VISITOR)).status).toBe(429);
  await openLink(other.client, other.mail);
});

test('a browser that is known for the address has its own limit of wrong codes', async () => {
  const known = await begin(VISITOR);
  await openLink(known.client, known.mail);
  await setTotal(1200);
  await stage.query("insert into rate_limits values ('wrong codes ' || $1, 20, now() + interval '1 hour')", [VISITOR]);
  const again = await request(known.client, known.email, VISITOR);
  expect((await tryWrong(again, VISITOR)).json).toMatchObject({ code: 'bad_code', triesLeft: 4 });
  expect((await enter(again.client, again.email, again.code, VISITOR)).status).toBe(200);
});
