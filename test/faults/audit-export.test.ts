// A stage of its own: its instances stop and start, and its export reads the whole log.
import { execFileSync } from 'node:child_process';
import { createReadStream, openSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BEGIN_EXPORT, exportAuditLog } from '../../server/operations/jobs/audit-export.ts';
import { openJobsPool } from '../../server/operations/jobs/store.ts';
import { openStage, type Stage } from '../support/harness.ts';
import { entry } from '../support/program.ts';
import { freshAddress, registerWebsite, requestEmail } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const TIMEOUT_MS = 60_000;
/** The size of a write that a pipe takes as a whole. */
const PIPE_BUF = 4_096;

const runNow = (stage: Stage, task: string) =>
  stage.query('select graphile_worker.add_job($1, job_key => $1, max_attempts => 1, run_at => now())', [task]);

/** Adds all rows to the totals, as the service does every minute: only these rows are printed. */
async function rollUp(stage: Stage): Promise<void> {
  await runNow(stage, 'roll-up');
  await waitUntil('all rows are in the totals', TIMEOUT_MS, async () => {
    const [row] = await stage.query('select last_audit_id >= (select max(id) from audit_log) as done from roll_up');
    return row.done === true;
  });
}

async function exportNow(stage: Stage): Promise<void> {
  await rollUp(stage);
  await runNow(stage, 'export-audit');
}

async function addRows(stage: Stage, count: number): Promise<void> {
  await stage.query("insert into audit_log (action, email) select 'logged_out', 'export@example.com' from generate_series(1, $1)", [count]);
}

const idsAfter = async (stage: Stage, id: number) =>
  (await stage.query('select id::int from audit_log where id > $1 order by id', [id])).map((row) => row.id as number);
const cursorOf = async (stage: Stage) => (await stage.query('select last_audit_id::int as id from audit_export'))[0]?.id as number;
const isComplete = async (stage: Stage) => (await cursorOf(stage)) === (await idsAfter(stage, 0)).at(-1);
/** Parses lines of JSON, of which each has to be complete. */
const parseLines = (text: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const idsOf = (text: string) => parseLines(text).map(({ id }) => Number(id));

/** The service with its stdout at the end of `path`. */
const printingTo = (path: string) => ({
  command: '/bin/sh',
  args: ['-c', `exec "$0" "$@" >>'${path}'`, process.execPath, entry],
  cwd: '/',
});

describe('a run', () => {
  let stage: Stage;
  let pools: ReturnType<typeof openJobsPool>[];
  beforeAll(async () => {
    stage = await openStage({ seesOutages: true });
    pools = Array.from({ length: 4 }, () => openJobsPool(stage.databaseUrl));
    await exportBy(pools[0], openOutput());
  });
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await stage.close();
  });

  function openOutput(write = (_: string, done: (error?: Error) => void) => done()) {
    const writes: string[] = [];
    const output = new Writable({
      decodeStrings: false,
      write(text, _, done) {
        writes.push(text);
        write(text, done);
      },
    });
    return Object.assign(
      output.on('error', () => {}),
      { writes },
    );
  }
  async function exportBy(pool: (typeof pools)[number], output: Writable, { maxMs = TIMEOUT_MS, onWait = () => {} } = {}) {
    const query = <Row extends object>(text: string, values?: unknown[]) => pool.query<Row & Record<string, unknown>>(text, values);
    await query(BEGIN_EXPORT);
    await exportAuditLog(query, output, { signal: new AbortController().signal, maxMs, onWait });
  }
  /** Adds rows to the log and to the totals. @returns their ids */
  async function addCounted(count: number): Promise<number[]> {
    const start = (await idsAfter(stage, 0)).at(-1) ?? 0;
    await addRows(stage, count);
    await stage.query('update roll_up set last_audit_id = (select max(id) from audit_log)');
    return idsAfter(stage, start);
  }

  test('prints a sign-in with its method', async () => {
    const output = openOutput();
    const start = (await idsAfter(stage, 0)).at(-1) ?? 0;
    await stage.query(`insert into audit_log (action, email, domain, seconds, method)
      values ('signed_in', 'a@mail.example', 'shop.example', 27, 'c'), ('signed_in', 'a@mail.example', 'shop.example', null, 'p')`);
    await stage.query('update roll_up set last_audit_id = (select max(id) from audit_log)');
    while (!(await isComplete(stage))) await exportBy(pools[0], output);
    const printed = parseLines(output.writes.join('')).filter(({ id }) => Number(id) > start);
    const signIn = { log: 'activity', email: 'a@mail.example', domain: 'shop.example', id: expect.any(String), at: expect.any(String) };
    expect(printed).toEqual([
      { ...signIn, action: 'signed_in', seconds: 27, method: 'code' },
      { ...signIn, action: 'signed_in_passkey', method: 'passkey' },
    ]);
  });

  test('of several instances at once prints each row once and in order, and no write splits a line', async () => {
    for (let round = 0; round < 10; round++) {
      const output = openOutput();
      const ids = await addCounted(1_251);
      // One of them ends early because another one is printing; the cursor shows when all rows were printed.
      while (!(await isComplete(stage))) await Promise.all(pools.map((pool) => exportBy(pool, output)));
      expect(idsOf(output.writes.join(''))).toEqual(ids);
      for (const text of output.writes) {
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(PIPE_BUF);
        expect(text.endsWith('\n')).toBe(true);
      }
    }
  });

  test('prints nothing while the lock of another instance is valid, and the rows once it has expired', async () => {
    const output = openOutput();
    const ids = await addCounted(3);
    await stage.query("update audit_export set locked_until = now() + interval '1 hour'");
    await exportBy(pools[0], output);
    expect(output.writes).toEqual([]);
    await stage.query("update audit_export set locked_until = now() - interval '1 second'");
    await exportBy(pools[0], output);
    expect(idsOf(output.writes.join(''))).toEqual(ids);
    expect(await isComplete(stage)).toBe(true);
  });

  test('ends after its time, and the next one continues', async () => {
    const output = openOutput();
    const ids = await addCounted(600);
    // It ends while it waits for the first batch.
    const slow = openOutput((_, done) => {
      const end = performance.now() + 2;
      while (performance.now() < end);
      done();
    });
    await exportBy(pools[0], slow, { maxMs: 1 });
    expect(idsOf(slow.writes.join(''))).toEqual(ids.slice(0, 500));
    await exportBy(pools[0], output);
    expect(idsOf(output.writes.join(''))).toEqual(ids.slice(500));
  });

  test('moves no cursor when a write fails, and unlocks the export', async () => {
    const ids = await addCounted(200);
    const start = await cursorOf(stage);
    let writes = 0;
    const failing = openOutput((_, done) => (++writes === 3 ? done(Object.assign(new Error('full'), { code: 'ENOSPC' })) : done()));
    await expect(exportBy(pools[0], failing)).rejects.toThrow('The audit log was not printed to stdout: ENOSPC. Check what reads it');
    expect(await cursorOf(stage)).toBe(start);
    const output = openOutput();
    await exportBy(pools[1], output);
    expect(idsOf(output.writes.join(''))).toEqual(ids);
  });

  test('keeps the lock while the reader does not read, and reports that once', async () => {
    const ids = await addCounted(10);
    const onWait = vi.fn();
    let accept = () => {};
    const output = openOutput((_, done) => {
      accept = done;
    });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const running = exportBy(pools[0], output, { onWait });
    await waitUntil('it writes', TIMEOUT_MS, () => output.writes.length === 1);
    await stage.query('update audit_export set locked_until = now()');
    vi.advanceTimersByTime(30_000);
    vi.useRealTimers();
    const isLocked = async () => (await stage.query("select from audit_export where locked_until > now() + interval '5 s'")).length === 1;
    await waitUntil('the lock is renewed', TIMEOUT_MS, isLocked);
    expect(onWait).toHaveBeenCalledOnce();
    const other = openOutput();
    await exportBy(pools[1], other);
    expect(other.writes).toEqual([]);
    accept();
    await running;
    expect(idsOf(output.writes.join(''))).toEqual(ids);
    expect(await isComplete(stage)).toBe(true);
  });
});

describe('AUDIT_LOG=stdout', () => {
  let stage: Stage;
  let directory: string;
  const settings = { AUDIT_LOG: 'stdout', NODE_ENV: 'production', ADMIN_PASSWORD: 'a password for the tests' };
  beforeAll(async () => {
    stage = await openStage({ seesOutages: true });
    directory = await mkdtemp(join(tmpdir(), 'emailauth-stdout-'));
  });
  afterAll(async () => {
    await stage.close();
    await rm(directory, { recursive: true });
  });
  const at = (name: string) => join(directory, name);

  test('prints each row once, by several instances and their workers, and all rows when one is killed', { timeout: 300_000 }, async () => {
    // Without the setting, nothing is kept for it.
    const before = await stage.start();
    await registerWebsite(before.client());
    await rollUp(stage);
    await before.kill();

    const program = printingTo(at('lines'));
    const instances = [
      await stage.start({ ...settings, WORKERS: '2' }, program),
      await stage.start(settings, program),
      await stage.start(settings, program),
    ];
    const start = await cursorOf(stage);
    expect(await idsAfter(stage, start)).toEqual([]);
    const printed = async () => idsOf(await readFile(at('lines'), 'utf8'));
    const email = freshAddress();
    const domain = await registerWebsite(instances[0].client());
    await requestEmail(instances[1].client(), email, `https://${domain}/`);
    for (let round = 0; round < 5; round++) {
      await addRows(stage, 700);
      await exportNow(stage);
      await waitUntil('all rows are printed', TIMEOUT_MS, () => isComplete(stage));
    }
    expect(await printed()).toEqual(await idsAfter(stage, start));
    const [line] = parseLines(await readFile(at('lines'), 'utf8')).filter((row) => row.email === email);
    expect(line).toEqual({
      log: 'activity',
      id: expect.stringMatching(/^\d+$/),
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      action: 'sign_in_requested',
      email,
      domain,
    });

    await addRows(stage, 20_000);
    await exportNow(stage);
    await waitUntil('some are printed', TIMEOUT_MS, async () => (await cursorOf(stage)) > ((await printed()).at(0) as number) + 4_000);
    await instances[1].kill();
    await exportNow(stage);
    await waitUntil('all rows are printed', TIMEOUT_MS, async () => {
      await runNow(stage, 'export-audit');
      return isComplete(stage);
    });
    expect([...new Set(await printed())].sort((a, b) => a - b)).toEqual(await idsAfter(stage, start));
    for (const service of [instances[0], instances[2]]) expect(await service.stop()).toBe(0);
  });

  test('serves while the reader does not read, and prints each row once when it reads again', { timeout: 300_000 }, async () => {
    execFileSync('mkfifo', [at('pipe')]);
    const reader = openSync(at('pipe'), 'r+');
    const service = await stage.start(settings, printingTo(at('pipe')));
    const start = await cursorOf(stage);
    // More than a pipe holds.
    await addRows(stage, 3_000);
    await exportNow(stage);
    const isPrinting = async () => (await stage.query('select from audit_export where locked_until > now()')).length === 1;
    await waitUntil('a run has begun', TIMEOUT_MS, isPrinting);
    const domain = await registerWebsite(service.client());
    await requestEmail(service.client(), freshAddress(), `https://${domain}/`);
    // All other jobs run too.
    await rollUp(stage);
    expect(await isComplete(stage)).toBe(false);
    expect((await service.client().get('/readyz')).status).toBe(200);

    let text = '';
    const lines = createReadStream('', { fd: reader, encoding: 'utf8' }).on('data', (chunk) => {
      text += chunk;
    });
    await waitUntil('all rows are printed', TIMEOUT_MS, async () => {
      await runNow(stage, 'export-audit');
      return isComplete(stage);
    });
    const wanted = await idsAfter(stage, start);
    await waitUntil('all rows are read', TIMEOUT_MS, () => text.endsWith('\n') && idsOf(text).length >= wanted.length);
    expect(idsOf(text)).toEqual(wanted);
    expect(await service.stop()).toBe(0);
    lines.destroy();
  });

  test('goes on without its reader, and prints the rows after a restart', { timeout: 300_000 }, async () => {
    execFileSync('mkfifo', [at('closed')]);
    const reader = await open(at('closed'), 'r+');
    const service = await stage.start(settings, printingTo(at('closed')));
    await reader.close();
    const start = await cursorOf(stage);
    await addRows(stage, 10);
    await exportNow(stage);
    await waitUntil('the failure is logged', TIMEOUT_MS, () => service.output().includes('not printed to stdout: EPIPE'));
    expect(await cursorOf(stage)).toBe(start);
    expect((await service.client().get('/readyz')).status).toBe(200);
    expect(await service.stop()).toBe(0);

    const next = await stage.start(settings, printingTo(at('after')));
    await exportNow(stage);
    await waitUntil('all rows are printed', TIMEOUT_MS, () => isComplete(stage));
    expect(idsOf(await readFile(at('after'), 'utf8'))).toEqual(await idsAfter(stage, start));
    await next.stop();
  });
});
