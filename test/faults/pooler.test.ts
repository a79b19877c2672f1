// A stage of its own: its PostgreSQL is behind PgBouncer.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { detectPooling } from '../../server/platform/db/examine.ts';
import { type Home, openHome } from '../cli/command.ts';
import type { Client } from '../support/client.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { hasPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { query } from '../support/postgres.ts';
import {
  addWebsite,
  freshAddress,
  freshDomain,
  openLink,
  registerWebsite,
  requestEmail,
  signInDeveloper,
  tokenOf,
  visitorToken,
} from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const SIGN_INS = 400;
const AT_ONCE = 20;

let stage: Stage;
let home: Home;
beforeAll(async () => {
  stage = await openStage({ seesOutages: true, empty: true });
  home = await openHome('http://localhost:1');
});
afterAll(async () => {
  await stage.close();
  await home.close();
});

/** Returns what the service writes when it does not start. */
async function refusal(settings: Record<string, string>): Promise<string> {
  const started = stage.start(settings).then(
    async (service) => `It started: ${await service.stop()}`,
    (error: Error) => error.message,
  );
  return (await started).replaceAll(/\s+/g, ' ');
}

/** Signs visitors in, AT_ONCE at a time. @returns descriptions of the calls that failed */
async function signInMany(services: Service[], domain: string): Promise<string[]> {
  const failures: string[] = [];
  let begun = 0;
  const visitors = Array.from({ length: AT_ONCE }, async () => {
    while (begun < SIGN_INS) {
      const service = services[begun++ % services.length];
      const [client, email] = [service.client(), freshAddress()];
      try {
        await requestEmail(client, email, `https://${domain}/`);
        const token = tokenOf(await openLink(client, await stage.mailbox.waitFor(email)));
        const { status, json } = await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);
        if (status !== 200 || json.email !== email) failures.push(`verify-token answered ${status}`);
      } catch (error) {
        failures.push((error as Error).message);
      }
    }
  });
  await Promise.all(visitors);
  return failures;
}

/** Follows the events of a website until so many tokens were verified. @returns their number by kind @throws Error for a repeated one */
async function countEvents(reader: Client, domain: string, verified: number): Promise<Record<string, number>> {
  const ids = new Set<string>();
  const counts: Record<string, number> = {};
  let cursor = '';
  await waitUntil(`${verified} tokens are verified`, 170_000, async () => {
    const { json } = await reader.get(`/api/websites/events?domain=${domain}&wait=5${cursor && `&after=${cursor}`}`);
    for (const { id, kind } of json.events) {
      if (ids.has(id)) throw new Error(`The event ${id} was repeated.`);
      ids.add(id);
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    cursor = json.cursor;
    return (counts.verified === verified && counts.mail_accepted === verified) || JSON.stringify(counts);
  });
  return counts;
}

describe.skipIf(!hasPgBouncer)('PgBouncer in session mode', () => {
  let pooler: PgBouncer;
  let url: string;
  beforeAll(async () => {
    pooler = await startPgBouncer(inject('clusterUrl'), 'session', { default_pool_size: 60 });
    url = pooler.url(stage.databaseUrl);
  });
  afterAll(() => pooler.stop());

  test('supports sign-ins, jobs, backup and restore without other settings', { timeout: 120_000 }, async () => {
    const service = await stage.start({ DATABASE_URL: url });
    const domain = await addWebsite(stage, service);
    expect(await signInMany([service], domain)).toEqual([]);
    const settings = await stage.query(
      "select distinct application_name as name from pg_stat_activity where datname = current_database() and application_name like 'emailauth%'",
    );
    expect(settings.map(({ name }) => name)).toEqual(expect.arrayContaining(['emailauth-core', 'emailauth-jobs', 'emailauth-serving']));

    const env = { DATA_DIR: stage.dataDir, DATABASE_URL: url };
    const file = `${home.directory}/session.tar`;
    expect((await home.run(['backup', file, '--json'], { env })).exitCode).toBe(0);
    expect((await home.run(['restore', file, '--yes', '--json'], { env })).json().error).toMatchObject({ code: 'running' });
    expect(await service.stop()).toBe(0);
    expect((await home.run(['restore', file, '--yes', '--json'], { env })).json()).toMatchObject({
      tables: { audit_log: expect.any(Number) },
    });
  });

  test('is always detected, also while several starts and other clients keep it busy', { timeout: 60_000 }, async () => {
    const busy = await startPgBouncer(inject('clusterUrl'), 'session', { default_pool_size: 40 });
    const crowded = busy.url(stage.databaseUrl);
    let over = false;
    const others = Array.from({ length: 4 }, async () => {
      while (!over) await query(crowded, 'select pg_sleep(0.002)');
    });
    const found = await Promise.all(Array.from({ length: 8 }, () => detectPooling(crowded)));
    over = true;
    await Promise.all(others);
    await busy.stop();
    expect(found).toEqual(found.map(() => 'session'));
  });

  test('reports what the server refuses and what to check', async () => {
    const options = `${url}?options=${encodeURIComponent('-c jit=off')}`;
    expect(await refusal({ DATABASE_URL: options })).toMatch(
      /refuses: "unsupported startup parameter: options" \(SQLSTATE 08P01\)\. Check DATABASE_URL/,
    );
    const unknownUser = Object.assign(new URL(url), { username: 'nobody' }).href;
    expect(await refusal({ DATABASE_URL: unknownUser })).toMatch(
      /refuses: ".*authentication failed" \(SQLSTATE 08P01\)\. Check DATABASE_URL/,
    );
  });
});

describe.skipIf(!hasPgBouncer)('PgBouncer in transaction mode', () => {
  let pooler: PgBouncer;
  let url: string;
  let supported: Record<string, string>;
  beforeAll(async () => {
    pooler = await startPgBouncer(inject('clusterUrl'), 'transaction', { default_pool_size: 8 });
    url = pooler.url(stage.databaseUrl);
    supported = { DATABASE_URL: url, DATABASE_DIRECT_URL: stage.databaseUrl, DATABASE_PREPARED_STATEMENTS: 'off' };
  });
  afterAll(() => pooler.stop());

  test('is refused without DATABASE_DIRECT_URL, also by commands', async () => {
    const sentence =
      /DATABASE_URL \(127\.0\.0\.1:\d+\/test_\w+\) leads through a pooler in transaction mode.*DATABASE_DIRECT_URL.*session mode/;
    expect(await refusal({ DATABASE_URL: url })).toMatch(sentence);
    expect(await refusal({ DATABASE_URL: url, DATABASE_PREPARED_STATEMENTS: 'off' })).toMatch(sentence);
    const env = { DATA_DIR: stage.dataDir, DATABASE_URL: url };
    for (const command of [
      ['db', 'migrate'],
      ['backup', `${home.directory}/no.tar`],
      ['restore', `${home.directory}/session.tar`, '--yes'],
    ]) {
      expect((await home.run([...command, '--json'], { env })).json().error.message).toMatch(sentence);
    }
  });

  test('is refused on DATABASE_DIRECT_URL', async () => {
    expect(await refusal({ ...supported, DATABASE_DIRECT_URL: url })).toMatch(
      /DATABASE_DIRECT_URL \(127\.0\.0\.1:\d+\/test_\w+\) leads through a pooler in transaction mode.*PostgreSQL itself/,
    );
  });

  test('is refused with prepared statements that it does not support', async () => {
    expect(await refusal({ ...supported, DATABASE_PREPARED_STATEMENTS: 'on' })).toMatch(
      /does not keep prepared statements\. Set DATABASE_PREPARED_STATEMENTS=off/,
    );
  });

  test.each([
    ['time zone', "timezone = 'Europe/Vilnius'"],
    ['DateStyle', "datestyle = 'German, DMY'"],
  ])('is refused when its %s is not the one of the service', async (_, setting) => {
    const elsewhere = await openStage({ seesOutages: true, empty: true });
    const name = new URL(elsewhere.databaseUrl).pathname.slice(1);
    await elsewhere.query(`alter database ${name} set ${setting}`);
    const settings = { ...supported, DATABASE_URL: pooler.url(elsewhere.databaseUrl), DATABASE_DIRECT_URL: elsewhere.databaseUrl };
    expect(await refusal(settings)).toMatch(
      /its time zone is not UTC or its DateStyle is not ISO\. Run: alter role postgres set timezone = 'UTC'; alter role postgres set datestyle/,
    );
    await elsewhere.close();
  });

  test('is refused when DATABASE_DIRECT_URL leads to another database', async () => {
    const another = Object.assign(new URL(stage.databaseUrl), { pathname: 'postgres' }).href;
    expect(await refusal({ ...supported, DATABASE_DIRECT_URL: another })).toMatch(/lead to two different databases/);
  });

  test('is detected while it is busy', { timeout: 60_000 }, async () => {
    let over = false;
    const others = Array.from({ length: 6 }, async () => {
      while (!over) await query(url, 'select pg_sleep(0.002)');
    });
    const found: string[] = [];
    for (let i = 0; i < 25; i++) found.push(await detectPooling(url));
    over = true;
    await Promise.all(others);
    expect(found).toEqual(found.map(() => 'transaction'));
  });

  test(`fails none of ${SIGN_INS} sign-ins at two instances with DATABASE_DIRECT_URL and DATABASE_PREPARED_STATEMENTS=off`, {
    timeout: 180_000,
  }, async () => {
    const first = await stage.start({ ...supported, WORKERS: '2' });
    const second = await stage.start({ ...supported, PUBLIC_URL: first.url });
    const owner = await signInDeveloper(stage, first);
    const { domain } = (await owner.client.post('/api/websites', { domain: freshDomain() })).json;
    const reader = second.client();
    reader.cookies = owner.client.cookies;
    const [failures, counts] = await Promise.all([signInMany([first, second], domain), countEvents(reader, domain, SIGN_INS)]);
    expect(failures).toEqual([]);
    expect(counts).toEqual({ requested: SIGN_INS, mail_accepted: SIGN_INS, opened: SIGN_INS, verified: SIGN_INS });
    await registerWebsite(second.client());
    for (const service of [first, second]) {
      expect(await service.stop()).toBe(0);
      // On a busy machine a self-check may fail.
      expect(service.output()).not.toMatch(/"level":(50|60)(?!.*a probe failed)/);
    }
  });

  test("changes no settings of the pooler's sessions, and does not block a restore", { timeout: 60_000 }, async () => {
    const service = await stage.start(supported);
    await visitorToken(stage, service.client(), await addWebsite(stage, service));
    expect(await service.stop()).toBe(0);
    const [settings] = await query(
      url,
      "select current_setting('enable_seqscan') as seqscan, current_setting('statement_timeout') as timeout",
    );
    expect(settings).toEqual({ seqscan: 'on', timeout: '0' });
    const env = { DATA_DIR: stage.dataDir, DATABASE_URL: url, DATABASE_DIRECT_URL: stage.databaseUrl };
    const file = `${home.directory}/transaction.tar`;
    expect((await home.run(['backup', file, '--json'], { env })).exitCode).toBe(0);
    expect((await home.run(['restore', file, '--yes', '--json'], { env })).json()).toMatchObject({ file });
  });
});

test.skipIf(!hasPgBouncer)('PgBouncer in statement mode is refused', async () => {
  const pooler = await startPgBouncer(inject('clusterUrl'), 'statement');
  const settings = { DATABASE_URL: pooler.url(stage.databaseUrl), DATABASE_DIRECT_URL: stage.databaseUrl };
  expect(await refusal(settings)).toMatch(/DATABASE_URL .* leads through a pooler in statement mode, where there are no transactions/);
  await pooler.stop();
});
