// A stage of its own: it restores databases.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { png } from '../support/images.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { countNow } from '../support/statistics.ts';
import { freePort, waitUntil } from '../support/waiting.ts';
import { headerOf, type Part, rowsOf, unpack } from './archives.ts';
import { type Home, openHome } from './command.ts';
import { issueWaysIn, thatWork } from './ways-in.ts';

describe.each(['DATABASE_URL', 'the embedded PostgreSQL'])('a backup under load and its restore, on %s', (kind) => {
  let stage: Stage;
  let home: Home;
  let service: Service;
  let owner: Developer;
  let file: string;
  const settings: Record<string, string> = { ADMIN_PASSWORD: production.ADMIN_PASSWORD };
  beforeAll(async () => {
    stage = await openStage();
    home = await openHome('http://localhost:1');
    Object.assign(home.env, { DATA_DIR: stage.dataDir, ...(kind === 'DATABASE_URL' && { DATABASE_URL: stage.databaseUrl }) });
    // So that links of emails from before the restore have the right origin afterwards.
    Object.assign(settings, { PORT: String(await freePort()), ...(kind !== 'DATABASE_URL' && { DATABASE_URL: '' }) });
    file = join(home.directory, 'backup.tar');
    service = await stage.start(settings);
    owner = await signInDeveloper(stage, service);
  });
  afterAll(async () => {
    // An embedded PostgreSQL still writes for a moment after its service was killed.
    await service.stop();
    await stage.close();
    await home.close();
  });

  const addWebsite = async (domain: string, iconUrl?: string) => (await owner.client.post('/api/websites', { domain, iconUrl })).json;
  const sites = async (who = owner) => (await who.client.get('/api/websites')).json;
  const statsOf = async (id: string, who = owner) =>
    (await who.client.get('/api/websites/stats')).json.find((site: { id: string }) => site.id === id);
  const upload = async (): Promise<string> => {
    const { uploadURL } = (await owner.client.post('/api/objects/upload')).json;
    return (await owner.client.send(uploadURL, { method: 'PUT', body: await png(), headers: { 'Content-Type': 'image/png' } })).json
      .iconUrl;
  };
  const makeKey = async (name: string) => (await owner.client.post('/api/api-keys', { name, environment: 'live' })).json;
  const keyWorks = async ({ key }: { key: string }) =>
    (await service.client().get('/api/websites', { Authorization: `Bearer ${key}` })).status === 200;

  /** Signs visitors in, four concurrently, until `stop`. */
  function load(domain: string) {
    let [over, done] = [false, 0];
    const visitor = async () => {
      while (!over) {
        const token = await visitorToken(stage, service.client(), domain);
        const { json } = await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);
        if (json.valid) done++;
      }
    };
    const visitors = Promise.all(Array.from({ length: 4 }, visitor));
    return {
      done: () => done,
      stop: () => {
        over = true;
        return visitors;
      },
    };
  }

  test('starts with the data of the snapshot, and earlier sessions, tokens and links are invalid', { timeout: 400_000 }, async () => {
    const [domain, icon] = [freshDomain(), await upload()];
    const { id } = await addWebsite(domain, icon);
    const picture = await service.client().get(icon);
    const [key, forgotten] = [await makeKey('kept'), await makeKey('revoked later')];
    const control = await issueWaysIn(stage, service, domain);
    expect(await thatWork(control)).toEqual(control.map(({ name }) => name));
    const before = await issueWaysIn(stage, service, domain);
    const listed = await sites();

    const visitors = load(domain);
    await waitUntil('there is load', 120_000, () => visitors.done() > 20);
    const [beganAt, backup] = [visitors.done(), await home.run(['backup', file, '--json'])];
    const endedAt = visitors.done();
    expect([backup.exitCode, backup.json()]).toMatchObject([0, { file, icons: expect.any(Number) }]);
    await waitUntil('there were more after it', 120_000, () => visitors.done() > endedAt + 10);
    await visitors.stop();
    expect(backup.json().bytes).toBe((await stat(file)).size);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(home.directory)).toEqual(['backup.tar']);

    const parts = await unpack(file);
    expectConsistent(parts, domain);
    const verified = rowsOf(parts, 'audit_log').filter((row) => row.action === 'token_verified' && row.domain === domain).length;
    // At least the control and the sign-ins completed before the backup, fewer than those completed at its end.
    expect(verified).toBeGreaterThan(beganAt);
    expect(verified).toBeLessThanOrEqual(endedAt + 4 + 1);

    const later = await addWebsite(freshDomain(), await upload());
    const between = await issueWaysIn(stage, service, domain);
    const newer = await makeKey('made later');
    expect((await owner.client.delete(`/api/api-keys/${forgotten.id}`)).status).toBe(200);
    expect(await Promise.all([key, forgotten, newer].map(keyWorks))).toEqual([true, false, true]);
    await owner.client.put(`/api/websites/${id}`, { domain, iconUrl: await upload() });

    const refused = await home.run(['restore', file, '--yes', '--json']);
    expect([refused.exitCode, refused.json().error.code]).toEqual([6, 'running']);
    expect((await service.client().get('/readyz')).status).toBe(200);
    expect(await service.stop()).toBe(0);
    const folder = join(stage.dataDir, 'uploads');
    await rm(join(folder, String(icon.split('/').at(-1))));
    // The embedded PostgreSQL runs as long as the process that starts it.
    const alone = kind === 'DATABASE_URL' ? home.run : home.spawn;
    const restored = await alone(['restore', file, '--yes', '--json']);
    expect([restored.exitCode, restored.stderr]).toEqual([0, expect.stringContaining('API keys that work, as at the backup: 2.')]);
    expect(restored.json()).toMatchObject({ file, createdAt: headerOf(parts).createdAt, apiKeys: 2 });
    expect(restored.json().tables).toEqual(backup.json().tables);
    expect((await readdir(folder)).sort()).toEqual(parts.flatMap(({ name }) => /^icons\/(.*)/.exec(name)?.[1] ?? []).sort());

    const again = join(home.directory, 'again.tar');
    expect((await alone(['backup', again])).exitCode).toBe(0);
    expectSame(parts, await unpack(again));

    service = await stage.start(settings);
    expect((await service.client().get('/readyz')).status).toBe(200);
    expect(await thatWork([...before, ...between])).toEqual([]);
    expect(await Promise.all([key, forgotten, newer].map(keyWorks))).toEqual([true, true, false]);
    owner = await signInDeveloper(stage, service, owner.email);
    expect(await sites()).toEqual(listed);
    expect((await sites()).some((site: { id: string }) => site.id === later.id)).toBe(false);
    const shown = await service.client().get(icon);
    expect([shown.status, shown.text]).toEqual([200, picture.text]);
    expect((await service.client().get(later.iconUrl)).status).toBe(404);
    const token = await visitorToken(stage, service.client(), domain);
    expect((await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`)).json.valid).toBe(true);
    // The embedded database cannot be reached from here, and its service counts once a minute.
    if (kind !== 'DATABASE_URL') return;
    await countNow(stage);
    expect((await statsOf(id)).completed).toBe(verified + 1);
  });

  test('leaves nothing to do for `db migrate` while a service runs', async () => {
    const migrated = await home.run(['db', 'migrate']);
    expect([migrated.exitCode, migrated.stdout]).toEqual([0, 'Nothing to do.']);
    expect((await home.run(['db', 'migrate', '--json'])).json()).toEqual({ applied: [] });
    await signInDeveloper(stage, service, freshAddress());
  });

  // Last, since it ends the service.
  test.runIf(kind === 'DATABASE_URL')('revokes all API keys with --revoke-api-keys, and the same file can be restored again', async () => {
    await makeKey('there');
    await home.run(['backup', file, '--force']);
    const valid = async () => (await stage.query('select id from api_keys where revoked_at is null')).length;
    expect(await valid()).toBe(3);
    await service.stop();
    const restored = await home.run(['restore', file, '--yes', '--revoke-api-keys', '--json']);
    expect([restored.exitCode, restored.json().apiKeys, await valid()]).toEqual([0, 0, 0]);
    const trail = await stage.query("select action from audit_log where action = 'api_key_revoked' and email = $1", [owner.email]);
    expect(trail.length).toBeGreaterThan(1);
  });
});

/** Asserts that every reference exists, and that no later step of a sign-in exists without the earlier one. */
function expectConsistent(parts: Part[], domain: string) {
  const log = rowsOf(parts, 'audit_log');
  const domains = new Set(rowsOf(parts, 'websites').map((site) => site.domain));
  expect(log.filter((row) => row.domain && !domains.has(row.domain))).toEqual([]);
  const of = (action: string) => new Set(log.filter((row) => row.action === action && row.domain === domain).map(({ email }) => email));
  const [asked, opened] = [of('sign_in_requested'), of('signed_in')];
  expect([...opened].filter((email) => !asked.has(email))).toEqual([]);
  expect([...of('token_verified')].filter((email) => !opened.has(email))).toEqual([]);
  const [{ last_audit_id: last }] = rowsOf(parts, 'roll_up');
  const summed = rowsOf(parts, 'daily_sites').reduce((sum, row) => sum + Number(row.completed), 0);
  expect(summed).toBe(log.filter((row) => row.action === 'token_verified' && Number(row.id) <= Number(last)).length);
  const held = parts.map(({ name }) => name);
  for (const table of ['sessions', 'tokens', 'sign_in_attempts', 'remembered_keys', 'admin_sessions', 'outbox']) {
    expect(held).not.toContain(`tables/${table}.1.copy`);
  }
}

/** Asserts that a backup of the restored database has the same rows, plus the audit row of the restore. */
function expectSame(first: Part[], second: Part[]) {
  const bodies = (parts: Part[]) =>
    Object.fromEntries(
      parts.slice(1, -1).flatMap(({ name, body }) => (name.startsWith('tables/audit_log.') ? [] : [[name, String(body)]])),
    );
  expect(bodies(second)).toEqual(bodies(first));
  const [before, after] = [rowsOf(first, 'audit_log'), rowsOf(second, 'audit_log')];
  expect(after.slice(0, -1)).toEqual(before);
  expect(after.at(-1)).toMatchObject({ action: 'restored', email: '', domain: '' });
}
