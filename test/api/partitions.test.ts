// A stage of its own: it detaches and drops partitions.
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { Retention } from '../../server/operations/retention.ts';
import { createPartitions } from '../../server/platform/db/partitions.ts';
import { createLog } from '../../server/platform/log.ts';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import { readMetrics } from '../support/metrics-text.ts';
import { createDatabase } from '../support/postgres.ts';
import { addWebsite, visitorToken } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const DAY_MS = 86_400_000;
/** A connection reports its statistics once a second at most. */
const REPORT_MS = 1_500;
const day = (offset: number) => new Date(Math.floor(Date.now() / DAY_MS + offset) * DAY_MS);
const month = (offset: number) => new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + offset));
const compact = (time: Date, length: 7 | 10) => time.toISOString().slice(0, length).replaceAll('-', '');
const idAt = (time: Date) => `${time.getTime().toString(16).padStart(12, '0')}${'0'.repeat(20)}`;

let url: string;
let client: pg.Client;

const ask = async <Row = Record<string, unknown>>(text: string, values: unknown[] = []) => (await client.query(text, values)).rows as Row[];
const partitionsOf = async (table: string) =>
  (
    await ask<{ name: string }>('select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1', [
      table,
    ])
  ).map(({ name }) => name);
/** Returns the partitions in which a table has rows. */
const occupied = async (table: string) =>
  (await ask<{ name: string }>(`select distinct tableoid::regclass::text as name from ${table} order by 1`)).map(({ name }) => name);

/** Ends the first partition at a time in the past, as if the migration had been long ago. Tokens and attempts that have been added are gone. */
async function endFirst(table: string, end: Date): Promise<void> {
  const bound = table === 'sign_in_attempts' ? idAt(end) : end.toISOString();
  await ask(`alter table ${table} detach partition ${table}_first; ${table === 'audit_log' ? '' : `truncate ${table}_first;`}
    alter table ${table} attach partition ${table}_first for values from (minvalue) to ('${bound}')`);
}

const addToken = (expiresAt: Date) =>
  ask(`insert into tokens (hash, email, expires_at) values ($1, 'a@b.example', $2)`, [randomBytes(32), expiresAt]);
const addAttempt = (began: Date, kind = 'portal', expiresAt = new Date(began.getTime() + 600_000)) =>
  ask(`insert into sign_in_attempts (id, kind, email, language, browser, expires_at) values ($1, $2, 'a@b.example', 'en', '', $3)`, [
    uuidv7({ msecs: began.getTime() }),
    kind,
    expiresAt,
  ]);
const addAudit = (at: Date, email = 'a@b.example') =>
  ask(`insert into audit_log (at, action, email) values ($1, 'developer_signed_in', $2)`, [at, email]);

describe('on a database of its own', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'emailauth-partitions-'));
    url = await createDatabase(inject('clusterUrl'), inject('templateUrl'));
    client = new pg.Client({ connectionString: url, options: '-c TimeZone=UTC' });
    await client.connect();
  });
  afterEach(async () => {
    await client.end();
    await rm(directory, { recursive: true });
  });

  const openRetention = (config: Partial<ConstructorParameters<typeof Retention>[0]['config']> = {}, printsAuditLog = false) =>
    new Retention({
      databaseUrl: url,
      config: { auditDays: 400, attemptDays: 1, tokenDays: 1, exportDir: null, ...config },
      printsAuditLog,
      log: createLog({ logLevel: 'silent', mode: 'production' }),
    });
  const run = (retention: Retention) => retention.run(new AbortController().signal);

  test('a new database has one partition for the next week, and no other is created', async () => {
    await addToken(new Date());
    await addAttempt(new Date());
    await addAudit(new Date());
    expect(await createPartitions(client)).toEqual([]);
    for (const table of ['tokens', 'sign_in_attempts', 'audit_log']) expect(await occupied(table)).toEqual([`${table}_first`]);
  });

  test('partitions are created and dropped on a database whose DateStyle is not ISO', async () => {
    await endFirst('tokens', day(-4));
    await ask(`alter database ${new URL(url).pathname.slice(1)} set datestyle = 'German, DMY'`);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    expect(await createPartitions(other)).toContain(`tokens_${compact(day(1), 10)}`);
    await other.end();
    await run(openRetention());
    expect(await partitionsOf('tokens')).not.toContain('tokens_first');
  });

  test('partitions are created a day or a week ahead, once by concurrent processes', async () => {
    await endFirst('tokens', day(-3));
    await endFirst('sign_in_attempts', day(0));
    await endFirst('audit_log', month(0));
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    const created = await Promise.all([createPartitions(client), createPartitions(other)]);
    await other.end();
    const dates = [0, 1].map((offset) => compact(day(offset), 10));
    expect(await partitionsOf('tokens')).toEqual([...dates.map((date) => `tokens_${date}`), 'tokens_default', 'tokens_first']);
    expect(await partitionsOf('sign_in_attempts')).toEqual([
      ...dates.map((date) => `sign_in_attempts_${date}`),
      'sign_in_attempts_default',
      'sign_in_attempts_first',
    ]);
    expect(await partitionsOf('audit_log')).toContain(`audit_log_${compact(month(0), 7)}`);
    expect(created.flat().length).toBe(new Set(created.flat()).size);
    expect(await createPartitions(client)).toEqual([]);
    await addToken(new Date(Date.now() + 3_600_000));
    await addAttempt(new Date());
    expect(await occupied('sign_in_attempts')).toEqual([`sign_in_attempts_${compact(day(0), 10)}`]);
    expect((await occupied('tokens'))[0]).not.toBe('tokens_default');
  });

  test('rows that had no partition are moved to it, and the audit log stays append-only in each partition', async () => {
    await endFirst('tokens', day(-3));
    await endFirst('audit_log', month(-2));
    await addToken(new Date());
    await addAudit(month(-1), 'before@b.example');
    await addAudit(new Date(), 'now@b.example');
    expect([await occupied('tokens'), await occupied('audit_log')]).toEqual([['tokens_default'], ['audit_log_default']]);
    await createPartitions(client);
    expect(await occupied('tokens')).toEqual([`tokens_${compact(day(0), 10)}`]);
    const months = [month(-1), month(0)].map((time) => `audit_log_${compact(time, 7)}`);
    expect(await occupied('audit_log')).toEqual(months);
    expect(await ask('select id::integer, email from audit_log order by id')).toEqual([
      { id: 1, email: 'before@b.example' },
      { id: 2, email: 'now@b.example' },
    ]);
    await addAudit(new Date());
    expect(await ask('select max(id)::integer as id from audit_log')).toEqual([{ id: 3 }]);
    for (const table of ['audit_log', 'audit_log_first', 'audit_log_default', ...months])
      for (const sql of [`update ${table} set action = 'x'`, `delete from ${table}`, `truncate ${table}`])
        await expect(ask(sql)).rejects.toThrow('audit_log is append-only');
  });

  test('partitions are dropped once their rows are older than the settings, and links that live for days are kept', async () => {
    for (const table of ['tokens', 'sign_in_attempts']) await endFirst(table, day(-4));
    for (const offset of [-5, -3, -1, 0]) {
      await addToken(new Date(day(offset).getTime() + 60_000));
      await addAttempt(new Date(day(offset).getTime() + 60_000));
    }
    await addAttempt(new Date(day(-3).getTime() + 60_000), 'invitation', new Date(Date.now() + 3 * DAY_MS));
    await addAttempt(new Date(day(-5).getTime() + 60_000), 'registration', new Date(Date.now() - 2 * DAY_MS));
    await run(openRetention({ tokenDays: 3, attemptDays: 2 }));
    expect(await occupied('tokens')).toEqual([-3, -1, 0].map((offset) => `tokens_${compact(day(offset), 10)}`));
    await run(openRetention());
    // The last partition ended less than a day ago.
    expect(await occupied('tokens')).toEqual([-1, 0].map((offset) => `tokens_${compact(day(offset), 10)}`));
    expect(await partitionsOf('tokens')).not.toContain('tokens_first');
    expect(
      await ask("select kind, tableoid::regclass::text as place from sign_in_attempts where expires_at > now() + interval '1 day'"),
    ).toEqual([{ kind: 'invitation', place: 'sign_in_attempts_default' }]);
    expect((await occupied('sign_in_attempts')).slice(0, 2)).toEqual(
      [-1, 0].map((offset) => `sign_in_attempts_${compact(day(offset), 10)}`),
    );
    expect(await ask("select from sign_in_attempts where kind = 'registration'")).toEqual([]);
  });

  describe('of the audit log', () => {
    const rows = [
      [month(-15), 'quote "and" back\\slash@b.example'],
      [new Date(month(-14).getTime() - 1), 'second,line\nž@b.example'],
    ] as const;
    const name = () => `audit_log_${compact(month(-15), 7)}`;
    const count = () => ask('update roll_up set last_audit_id = 3; update visitor_roll_up set last_audit_id = 3');
    beforeEach(async () => {
      await endFirst('audit_log', month(-15));
      for (const [at, email] of rows) await addAudit(at, email);
      await addAudit(new Date());
    });

    test('a partition is written to a file before it is dropped', async () => {
      await count();
      await run(openRetention({ exportDir: directory }));
      expect(await partitionsOf('audit_log')).not.toContain(name());
      expect(await readdir(directory)).toEqual(expect.arrayContaining([`${name()}.jsonl.gz`, 'audit_log_first.jsonl.gz']));
      const lines = gunzipSync(await readFile(join(directory, `${name()}.jsonl.gz`)))
        .toString()
        .split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => JSON.parse(line))).toEqual(
        rows.map(([at, email], index) => ({
          id: String(index + 1),
          at: at.toISOString().replace('Z', '000Z'),
          action: 'developer_signed_in',
          email,
        })),
      );
      expect(await ask('select id::integer from audit_log')).toEqual([{ id: 3 }]);
    });

    test('a partition that cannot be written is kept, and the other tables are not affected', async () => {
      await count();
      await endFirst('tokens', day(-4));
      const retention = openRetention({ exportDir: join(directory, 'missing') });
      await expect(run(retention)).rejects.toThrow('ENOENT');
      expect(await partitionsOf('audit_log')).toContain(name());
      expect(await partitionsOf('tokens')).not.toContain('tokens_first');
      await run(openRetention({ exportDir: directory }));
      expect(await partitionsOf('audit_log')).not.toContain(name());
    });

    test('an export that is interrupted leaves no file with the final name, and the partition', async () => {
      await count();
      await ask(
        `insert into audit_log (at, action, email) select $1, 'signed_in', repeat(md5(n::text), 50) from generate_series(1, 20000) n`,
        [month(-15)],
      );
      await ask('update roll_up set last_audit_id = 30000; update visitor_roll_up set last_audit_id = 30000');
      const aborting = new AbortController();
      const running = openRetention({ exportDir: directory }).run(aborting.signal);
      await waitUntil('rows are written', 30_000, async () => (await readdir(directory)).includes(`${name()}.jsonl.gz.unfinished`));
      aborting.abort();
      await running.catch(() => {});
      expect(await readdir(directory)).not.toContain(`${name()}.jsonl.gz`);
      expect(await partitionsOf('audit_log')).toContain(name());
    });

    test('a partition with rows that are not counted or not printed yet is kept', async () => {
      await expect(run(openRetention())).rejects.toThrow('not in the statistics yet');
      await count();
      await ask('insert into audit_export (last_audit_id) values (1)');
      await expect(run(openRetention({}, true))).rejects.toThrow('AUDIT_LOG');
      expect(await partitionsOf('audit_log')).toContain(name());
      await ask('update audit_export set last_audit_id = 2');
      await run(openRetention({}, true));
      expect(await partitionsOf('audit_log')).not.toContain(name());
    });
  });

  test('a table that another transaction uses keeps its partition until the next run', async () => {
    await endFirst('tokens', day(-4));
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    await holder.query('begin; select from tokens');
    await expect(run(openRetention())).rejects.toThrow('lock timeout');
    expect(await partitionsOf('tokens')).toContain('tokens_first');
    await holder.query('rollback');
    await holder.end();
    await run(openRetention());
    expect(await partitionsOf('tokens')).not.toContain('tokens_first');
  });
});

describe('of a running service', () => {
  let stage: Stage;
  let service: Service;
  let directory: string;
  beforeAll(async () => {
    stage = await openStage();
    directory = await mkdtemp(join(tmpdir(), 'emailauth-partitions-'));
    service = await stage.start({ RETENTION_AUDIT_DAYS: '90', RETENTION_EXPORT_DIR: directory });
    client = new pg.Client({ connectionString: stage.databaseUrl, options: '-c TimeZone=UTC' });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await stage.close();
    await rm(directory, { recursive: true, force: true });
  });
  const runNow = (task: string) => ask('select graphile_worker.add_job($1, job_key => $1, max_attempts => 1, run_at => now())', [task]);

  test('the verification of a token that is valid searches only the partitions of the next hour', { timeout: 180_000 }, async () => {
    const shop = await addWebsite(stage, service);
    await endFirst('tokens', day(-1));
    await createPartitions(client);
    const scans = async () =>
      (
        await ask<{ name: string; scans: number }>(
          `select relname as name, idx_scan::integer as scans from pg_stat_user_tables where relname like 'tokens\\_%' order by 1`,
        )
      ).map(({ name, scans: number }) => [name, number] as const);
    const settled = async () => {
      let [before, since] = ['', 0];
      await waitUntil('the statistics of the connections are reported', 60_000, async () => {
        const found = JSON.stringify(await scans());
        if (found !== before) [before, since] = [found, performance.now()];
        return performance.now() - since > REPORT_MS;
      });
      return new Map(await scans());
    };
    // The clean-up of every minute searches the default partition too; a verification that did so would do it every time.
    await waitUntil('a verification searches only the partitions of the next hour', 100_000, async () => {
      const token = await visitorToken(stage, service.client(), shop);
      const before = await settled();
      expect((await service.client().get(`/api/verify-token?token=${token}&domain=${shop}`)).json).toMatchObject({ valid: true });
      const after = await settled();
      const searched = [...after].filter(([name, number]) => number > (before.get(name) ?? 0)).map(([name]) => name);
      const isOnly = searched.length > 0 && !searched.includes('tokens_first') && !searched.includes('tokens_default');
      return isOnly || `searched: ${searched.join(', ')}`;
    });
  });

  test('sign-ins go on while partitions are created and dropped, and a failure is counted', { timeout: 120_000 }, async () => {
    const shop = await addWebsite(stage, service);
    for (const table of ['tokens', 'sign_in_attempts']) await endFirst(table, day(-4));
    await runNow('roll-up');
    const isCounted = async () =>
      (await ask('select from roll_up join visitor_roll_up using (last_audit_id) where last_audit_id = (select max(id) from audit_log)'))
        .length > 0;
    await waitUntil('the rows are counted', 60_000, isCounted);
    const signIn = async () => {
      const token = await visitorToken(stage, service.client(), shop);
      expect((await service.client().get(`/api/verify-token?token=${token}&domain=${shop}`)).json).toMatchObject({ valid: true });
    };
    await signIn();
    await rm(directory, { recursive: true });
    await ask(`create table audit_log_196901 (like audit_log); alter table audit_log detach partition audit_log_first;
      alter table audit_log attach partition audit_log_196901 for values from ('1969-01-01') to ('1969-02-01');
      alter table audit_log attach partition audit_log_first for values from ('1969-02-01') to ('${month(2).toISOString()}')`);
    await runNow('maintain-partitions');
    let dropped = false;
    const signIns = (async () => {
      while (!dropped) await signIn();
    })();
    signIns.catch(() => {});
    await waitUntil('the failure is counted', 60_000, async () => {
      const metrics = await readMetrics(service);
      return metrics.sum('emailauth_job_runs_total', { task: 'maintain-partitions', result: 'failed' }) === 1;
    });
    dropped = true;
    await signIns;
    expect((await readMetrics(service)).sum('emailauth_overdue_partitions', { table: 'audit_log' })).toBe(1);
    const isLogged = () => /"partition":"audit_log_196901".*could not be exported or dropped/.test(service.output());
    await waitUntil('the failure is logged', 60_000, isLogged);
    expect((await service.client().get('/readyz')).status).toBe(200);
    expect(await partitionsOf('tokens')).not.toContain('tokens_first');
    await signIn();
    expect(await occupied('tokens')).not.toContain('tokens_default');
  });
});
