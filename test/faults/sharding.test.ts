// A stage of its own: it has two services with databases of their own.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '../support/client.ts';
import { openStage, type Stage } from '../support/harness.ts';
import { freshAddress, freshDomain, openLink, requestEmail, tokenOf } from '../support/sign-ins.ts';
import { freePort } from '../support/waiting.ts';
import { openShardRouter, type ShardRouter, shardOf } from './shard-router.ts';

/** The tables of a sign-in, which are divided by mailbox; the others are the same on every shard. */
const TABLES = { sign_in_attempts: 'email', tokens: 'email', remembered_keys: 'email', audit_log: 'email' };

let stages: Stage[];
let router: ShardRouter;
const domain = freshDomain();
beforeAll(async () => {
  stages = await Promise.all([openStage({ seesOutages: true }), openStage({ seesOutages: true })]);
  router = await openShardRouter();
  const settings = {
    PUBLIC_URL: `http://localhost:${router.port}`,
    SMTP_URL: stages[0].mailbox.url,
    SECRET_KEY: 'the same key of all the instances of a service',
  };
  router.listen(await Promise.all(stages.map(async (stage) => stage.start({ ...settings, PORT: String(await freePort()) }))));
  const website = [randomUUID(), domain, freshAddress('owner')];
  for (const stage of stages) await stage.query('insert into websites (id, domain, email, claimed_at) values ($1, $2, $3, now())', website);
});
afterAll(async () => {
  await router.close();
  await Promise.all(stages.map((stage) => stage.close()));
});

test('whole sign-ins need only the database of their mailbox', async () => {
  const emails = Array.from({ length: 40 }, () => freshAddress());
  const tokens = await Promise.all(
    emails.map(async (email) => {
      const client = new Client(`http://localhost:${router.port}`);
      await requestEmail(client, email, `https://${domain}/`);
      return tokenOf(await openLink(client, await stages[0].mailbox.waitFor(email)));
    }),
  );
  const website = new Client(`http://localhost:${router.port}`);
  for (const [index, token] of tokens.entries()) {
    expect((await website.get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: true, email: emails[index] });
    expect((await website.get(`/api/verify-token?token=${token}`)).json).toMatchObject({ valid: false, reason: 'used' });
  }
  expect((await website.get('/api/verify-token?token=unknown')).json).toMatchObject({ valid: false, reason: 'unknown' });

  for (const [table, column] of Object.entries(TABLES)) {
    const found = await Promise.all(
      stages.map((stage) => stage.query(`select distinct ${column} as email from ${table} where ${column} is not null`)),
    );
    const kept = found.map((rows) => rows.map(({ email }) => String(email)).filter((email) => emails.includes(email)));
    expect(kept.flat().sort()).toEqual([...emails].sort());
    for (const [shard, addresses] of kept.entries()) {
      expect(addresses.length).toBeGreaterThan(0);
      expect(new Set(addresses.map((email) => shardOf(email, stages.length)))).toEqual(new Set([shard]));
    }
  }
});
