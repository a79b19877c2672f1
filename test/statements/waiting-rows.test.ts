import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { v7 as uuid } from 'uuid';
import { expect, inject, onTestFinished, test } from 'vitest';
import { SecretKeys } from '../../server/platform/secrets.ts';
import { AttemptSecrets } from '../../server/signin/attempts.ts';
import { CodeTries } from '../../server/signin/methods/code-tries.ts';
import { AttemptOpener } from '../../server/signin/opener.ts';
import { createDatabase, query } from '../support/postgres.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { freshBytes, insert, openPatientDatabase, toWebsite } from './database.ts';

const JOINS = ['nestloop', 'hashjoin', 'mergejoin'];
const OTHERS = `
insert into sign_in_attempts (id, kind, email, language, browser, expires_at)
select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || right(replace(gen_random_uuid()::text, '-', ''), 20))::uuid,
  'portal', n || '@example.com', 'en', sha256(n::text::bytea), now() + interval '15 minutes'
from generate_series(1, 2000) n`;

// PostgreSQL evaluates a statement again for a row that another transaction has changed meanwhile. PostgreSQL 18 fails there when both
// a parameter and a join prune the partitions of that row, which depends on the join that the planner has chosen.
test.for(JOINS)('a code and a link are accepted once the row of their attempt is free, with a %s', async (join) => {
  const url = await createDatabase(inject('clusterUrl'), inject('templateUrl'));
  const disabled = [...JOINS.filter((each) => each !== join), 'material'];
  for (const node of disabled) await query(url, `alter database ${new URL(url).pathname.slice(1)} set enable_${node} = off`);
  await query(url, OTHERS);
  await query(url, 'analyze sign_in_attempts');
  const database = openPatientDatabase(url);
  const holder = new pg.Client(url);
  await holder.connect();
  onTestFinished(async () => {
    await holder.end();
    await database.close();
  });
  const { core } = database;
  const secrets = new AttemptSecrets(new SecretKeys(freshBytes()));
  const opener = new AttemptOpener({ core, secrets, publicUrl: 'https://auth.example' });
  const tries = new CodeTries(core, 1);
  const [domain, device] = [freshDomain(), randomBytes(32).toString('base64url')];
  await insert(database, 'websites', { id: uuid(), domain, domain_since: "sql:now() - interval '1 day'" });
  const visitor = { device, userAgent: '', clientAddress: '192.0.2.1', attempt: '', session: undefined };
  for (const way of ['code', 'link'] as const) {
    const [id, email, browser] = [uuid(), freshAddress(), freshBytes()];
    const at = { domain, audience: domain, destination: toWebsite(domain), expires_at: "sql:now() + interval '599 seconds'" };
    await insert(database, 'sign_in_attempts', { id, kind: 'site', email, language: 'en', browser, ...at });
    const candidates = await tries.candidates({ browser }, { email, state: null }, freshBytes());
    await holder.query('begin');
    await holder.query('update sign_in_attempts set language = language where id = $1', [id]);
    const accepted: Promise<unknown> =
      way === 'code'
        ? tries.judge({ candidates, match: id, mailbox: email, network: `network of ${id}`, device: freshBytes() })
        : opener.open({ kind: 'site', id }, visitor, { browser, email: null, method: 'link' });
    await waitUntil('the statement waits for the row', 30_000, async () => {
      const sql = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return (await query(url, sql)).length > 0;
    });
    await holder.query('commit');
    expect(await accepted).toMatchObject(way === 'code' ? { tried: [id] } : { email });
  }
});
