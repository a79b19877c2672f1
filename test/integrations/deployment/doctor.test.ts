import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Check, type Clinic, openClinic } from '../../cli/clinic.ts';
import type { Service } from '../../support/harness.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/pgbouncer.ts';
import { createCluster, createDatabase } from '../../support/postgres.ts';
import { hasProxy, startProxy } from '../../support/proxies.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';

let clinic: Clinic;
let backups: string;
beforeAll(async () => {
  clinic = await openClinic();
  backups = await mkdtemp(join(tmpdir(), 'emailauth-backups-'));
});
afterAll(async () => {
  await clinic.close();
  await rm(backups, { recursive: true, force: true });
});

/** Runs `emailauth doctor --deployment` with the settings of the service. @param changes of the settings; empty: unset */
async function diagnose(changes: Record<string, string> = {}, args: string[] = []): Promise<{ checks: Check[]; of(id: string): Check }> {
  const { stage, service } = clinic;
  const settings = {
    PUBLIC_URL: service.url,
    DATABASE_URL: stage.databaseUrl,
    SMTP_URL: stage.mailbox.url,
    MAIL_FROM: 'Email Auth <no-reply@emailauth.example>',
    SECRET_KEY: 'k'.repeat(40),
    DATA_DIR: stage.dataDir,
  };
  return clinic.diagnose(['--deployment', ...args], { ...settings, ...changes });
}

test('checks everything that the service needs, and is not content with what it could not check', async () => {
  clinic.healMail();
  await clinic.home.run(['backup', join(backups, 'today.tar.gz')], {
    env: { DATABASE_URL: clinic.stage.databaseUrl, DATA_DIR: clinic.stage.dataDir },
  });
  const { checks } = await diagnose({}, ['--backups', backups]);
  expect(checks.map(({ id, ok }) => [id, ok])).toEqual([
    ['settings', true],
    ['service', true],
    ['clock', true],
    ['mail_server', true],
    ['mail_domain', true],
    ['spf', true],
    ['dkim', true],
    ['dmarc', true],
    // On this machine.
    ['dns', null],
    ['tls', null],
    ['proxy', true],
    ['database', true],
    ['pooler', true],
    ['database_clock', true],
    ['replication', null],
    ['backup', true],
    ['disk', true],
    ['ptr', null],
  ]);
});

describe('settings', () => {
  test('that are wrong fail together, and no secret is generated', async () => {
    const dataDir = join(backups, 'data');
    const { checks } = await diagnose({ NODE_ENV: 'production', SECRET_KEY: '', PORT: 'x', DATA_DIR: dataDir });
    expect(checks).toEqual([
      expect.objectContaining({ id: 'settings', ok: false, fix: expect.stringMatching(/PORT is not valid.*SECRET_KEY is missing/) }),
    ]);
    expect((await diagnose({ SECRET_KEY: '', DATA_DIR: dataDir })).of('settings').ok).toBe(true);
    expect(await readdir(backups)).not.toContain('data');
  });

  test('of a website or without --deployment are a usage error', async () => {
    for (const args of [
      ['doctor', 'shop.example', '--deployment'],
      ['doctor', '--backups', '/backups'],
    ])
      expect((await clinic.home.run(args)).exitCode).toBe(3);
  });
});

test('a backup that is old or missing fails', async () => {
  const directory = await mkdtemp(join(backups, 'old-'));
  const check = async () => (await diagnose({}, ['--backups', directory])).of('backup');
  expect(await check()).toMatchObject({ ok: false, detail: expect.stringContaining('has no backup') });
  const file = join(directory, 'old.tar.gz');
  const ran = await clinic.home.run(['backup', file], { env: { DATABASE_URL: clinic.stage.databaseUrl, DATA_DIR: clinic.stage.dataDir } });
  expect(ran.exitCode).toBe(0);
  const threeDaysAgo = Date.now() / 1000 - 3 * 86_400;
  await utimes(file, threeDaysAgo, threeDaysAgo);
  expect(await check()).toMatchObject({ ok: false, detail: expect.stringContaining('is 72 hours old') });
});

describe('the service', () => {
  test('that does not respond fails, while the database is checked', async () => {
    const { of } = await diagnose({ PUBLIC_URL: `http://localhost:${await freePort()}` });
    for (const id of ['service', 'proxy'])
      expect(of(id)).toMatchObject({ ok: false, detail: expect.stringContaining('refuses the connection') });
    expect(of('database').ok).toBe(true);
  });

  test('that cannot reach its mail server fails', async () => {
    const port = await freePort();
    const service = await clinic.stage.start({ SMTP_URL: `smtp://127.0.0.1:${port}` });
    const { of } = await diagnose({ PUBLIC_URL: service.url });
    expect(of('mail_server')).toMatchObject({ ok: false, fix: expect.stringContaining('SMTP_URL') });
    await service.stop();
  });
});

describe('proxy headers', () => {
  /** Starts nginx of docs/operations.md with changed lines in front of an instance. @returns the check */
  async function behindNginx(trustProxy: string, changes: Record<string, string> = {}): Promise<Check> {
    const [port, servicePort] = [await freePort(), await freePort()];
    const settings = { PUBLIC_URL: `http://localhost:${port}`, TRUST_PROXY: trustProxy };
    const service = await clinic.stage.start({ ...settings, PORT: String(servicePort) });
    const end = await startProxy('nginx', 'operations.md', port, { '127.0.0.1:4400': `127.0.0.1:${servicePort}`, ...changes });
    try {
      return (await diagnose(settings)).of('proxy');
    } finally {
      await end();
      await service.stop();
    }
  }
  if (!hasProxy('nginx')) console.warn('\n!! Tests with nginx are skipped: on Debian, apt-get install nginx-core\n');

  test.skipIf(!hasProxy('nginx')).each([
    ['1', {}, true, 'a forged one is ignored', ''],
    ['0', {}, false, 'all visitors share the limits of a proxy', 'Set TRUST_PROXY=1.'],
    ['2', {}, false, 'counts the address that a client claims', 'Set TRUST_PROXY=1.'],
    [
      '1',
      { 'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;': '' },
      false,
      'counts the address that a client claims',
      'Let the proxy append the address',
    ],
    ['1', { 'proxy_set_header Host $http_host;': '' }, false, 'arrive with another Host', 'proxy_set_header Host'],
  ])('behind nginx with TRUST_PROXY=%s and the changes %j', async (trustProxy, changes, ok, detail, fix) => {
    const found = await behindNginx(trustProxy, changes);
    expect(found).toMatchObject({ ok, detail: expect.stringContaining(detail), fix: expect.stringContaining(fix) });
  });

  test('without a proxy, TRUST_PROXY lets clients choose their address', async () => {
    const service: Service = await clinic.stage.start({ TRUST_PROXY: '1' });
    const { of } = await diagnose({ PUBLIC_URL: service.url, TRUST_PROXY: '1' });
    expect(of('proxy')).toMatchObject({ ok: false, fix: expect.stringContaining('Without a proxy, set TRUST_PROXY=0.') });
    await service.stop();
  });
});

describe('the database', () => {
  test('that cannot be reached fails, without the password', async () => {
    const { of } = await diagnose({ DATABASE_URL: `postgres://postgres:very-secret@127.0.0.1:${await freePort()}/none` });
    expect(of('database')).toMatchObject({ ok: false, detail: expect.stringContaining('ECONNREFUSED') });
    expect(JSON.stringify(of('database'))).not.toContain('very-secret');
    for (const id of ['pooler', 'database_clock', 'replication']) expect(of(id).ok).toBeNull();
  });

  test.skipIf(!hasPgBouncer).each([
    ['session', {}, true, 'a session of its own'],
    ['transaction', {}, false, 'locks, LISTEN and migrations'],
    ['transaction', { direct: true }, false, 'does not keep prepared statements'],
    ['transaction', { direct: true, DATABASE_PREPARED_STATEMENTS: 'off' }, true, 'DATABASE_DIRECT_URL past it'],
    ['statement', {}, false, 'has no transactions'],
  ] as const)('behind PgBouncer in %s mode with %j', async (mode, { direct, ...settings }: { direct?: boolean }, ok, detail) => {
    const { databaseUrl } = clinic.stage;
    const pooler = await startPgBouncer(databaseUrl, mode);
    try {
      const { of } = await diagnose({
        DATABASE_URL: pooler.url(databaseUrl),
        ...(direct ? { DATABASE_DIRECT_URL: databaseUrl } : {}),
        ...settings,
      });
      expect(of('pooler')).toMatchObject({ ok, detail: expect.stringContaining(detail) });
      expect(of('database').ok).toBe(true);
    } finally {
      await pooler.stop();
    }
  });

  test('that DATABASE_DIRECT_URL does not lead to fails', async () => {
    const { databaseUrl } = clinic.stage;
    const { of } = await diagnose({ DATABASE_DIRECT_URL: await createDatabase(databaseUrl) });
    expect(of('pooler')).toMatchObject({ ok: false, detail: expect.stringContaining('two different databases') });
  });

  test('that is a standby fails; at the primary, the standby follows', { timeout: 300_000 }, async () => {
    const primary = await createCluster();
    const url = await createDatabase(primary.url('postgres'));
    const standby = await primary.createStandby();
    try {
      const name = new URL(url).pathname.slice(1);
      await waitUntil('the standby follows', 60_000, async () => {
        const { ok, detail } = (await diagnose({ DATABASE_URL: url })).of('replication');
        return (ok === true && detail.startsWith('1 of 1 standbys follow, 0 of them')) || detail;
      });
      const { of } = await diagnose({ DATABASE_URL: standby.url(name) });
      expect(of('database')).toMatchObject({
        ok: false,
        detail: expect.stringContaining('standby'),
        fix: expect.stringContaining('Promote it'),
      });
      expect(of('replication').ok).toBe(false);
    } finally {
      await standby.remove();
      await primary.remove();
    }
  });
});
