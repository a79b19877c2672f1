import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type Developer, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openTerminal } from './terminal.ts';

const { stage, service } = await useService();
let home: Home;
let ann: Developer;
beforeAll(async () => {
  home = await openHome(service.url);
  ann = await signInDeveloper(stage, service);
  home.env.EMAILAUTH_TOKEN = ann.client.cookies.get('sid') as string;
});
afterAll(async () => {
  await home?.close();
});

const KEY = ['id', 'name', 'environment', 'scopes', 'keyId', 'isActive', 'createdAt', 'lastUsed', 'expiresAt'];
let number = 0;
const freshName = () => `Script ${++number}`;
const created = async (name = freshName()): Promise<{ id: string; name: string; keyId: string; key: string }> =>
  (await ann.client.post('/api/api-keys', { name, environment: 'live' })).json;
const statusWith = async (key: string) => (await service.client().get('/api/websites', { Authorization: `Bearer ${key}` })).status;

test('create prints only the key on stdout, and it works', async () => {
  const { exitCode, stdout, stderr } = await home.run(['keys', 'create', freshName()]);
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^ea_live_[\w-]{43}$/)]);
  expect(stderr).toContain('only this once');
  expect(stderr).not.toContain(stdout);
  expect(await statusWith(stdout)).toBe(200);
  const quiet = await home.run(['keys', 'create', freshName(), '--quiet', '--json']);
  expect([Object.keys(quiet.json()), quiet.stderr]).toEqual([[...KEY, 'key'], '']);
});

test('create --test makes a key that cannot change anything', async () => {
  const { stdout } = await home.run(['keys', 'create', freshName(), '--test']);
  expect(stdout).toMatch(/^ea_test_/);
  const ran = await home.run(['sites', 'add', freshDomain(), '--json'], { env: { EMAILAUTH_TOKEN: stdout } });
  expect([ran.exitCode, ran.json().error.code]).toEqual([4, 'test_key']);
});

test('create without a name exits with 3 when it cannot prompt', async () => {
  const { exitCode, stderr } = await home.run(['keys', 'create']);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('<name> is missing')]);
});

test('list prints keys without their secrets', async () => {
  const { name, key, keyId } = await created();
  const { stdout } = await home.run(['keys', 'list']);
  expect(stdout).toMatch(new RegExp(`^${name} +${keyId} +live +all +active +never$`, 'm'));
  const listed = await home.run(['keys', 'list', '--json']);
  expect(Object.keys(listed.json()[0])).toEqual(KEY);
  expect(`${stdout}${listed.stdout}`).not.toContain(key);
});

test('list explains how to create a key when there is none', async () => {
  const other = await signInDeveloper(stage, service);
  const env = { EMAILAUTH_TOKEN: other.client.cookies.get('sid') as string };
  const { exitCode, stdout, stderr } = await home.run(['keys', 'list'], { env });
  expect([exitCode, stdout, stderr]).toEqual([0, '', expect.stringContaining('emailauth keys create')]);
});

describe('rotate', () => {
  test('replaces a key, which still works for the given hours', async () => {
    const { keyId, key } = await created();
    const { exitCode, stdout, stderr } = await home.run(['keys', 'rotate', keyId.replace('…', ''), '--grace', '1']);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^ea_live_[\w-]{43}$/)]);
    expect(stderr).toContain(`${keyId} still works for 1 hour.`);
    expect([await statusWith(stdout), await statusWith(key)]).toEqual([200, 200]);
    expect((await home.run(['keys', 'rotate', keyId])).exitCode).toBe(5);
    expect((await home.run(['keys', 'list'])).stdout).toMatch(new RegExp(`${keyId} +live +all +until `));
  });

  test('ends the old key at once with --grace 0, after a confirmation', async () => {
    const { id, key } = await created();
    expect((await home.run(['keys', 'rotate', id, '--grace', '0'])).exitCode).toBe(3);
    expect(await statusWith(key)).toBe(200);
    const { stdout } = await home.run(['keys', 'rotate', id, '--grace', '0', '--yes']);
    await waitUntil('the old key has ended', 30_000, async () => (await statusWith(key)) === 401);
    expect(await statusWith(stdout)).toBe(200);
  });

  test('exits with 3 for another number of hours', async () => {
    const { exitCode, stderr } = await home.run(['keys', 'rotate', 'any', '--grace', '2']);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('one of 0, 1, 24, 168')]);
  });
});

describe('revoke', () => {
  test('ends a key after a confirmation', async () => {
    const { id, name, keyId, key } = await created();
    expect((await home.run(['keys', 'revoke', name])).exitCode).toBe(3);
    const ran = await home.run(['keys', 'revoke', name, '--yes', '--json']);
    expect([ran.exitCode, ran.json()]).toEqual([0, { id, name, keyId, revoked: true }]);
    await waitUntil('the key has ended', 30_000, async () => (await statusWith(key)) === 401);
    const again = await home.run(['keys', 'revoke', name, '--yes', '--json']);
    expect([again.exitCode, again.json().error.code]).toEqual([5, 'api_key_not_found']);
  });

  test('prompts in a terminal, and keeps the key on no', async () => {
    const { name, key } = await created();
    const terminal = openTerminal(home, ['keys', 'revoke', name]);
    await terminal.waitFor('Revoke it?');
    terminal.type('n');
    expect(await terminal.exited).toBe(2);
    expect(await statusWith(key)).toBe(200);
    await terminal.close();
  });

  test('does not prompt with TERM=dumb, and prints no control codes', async () => {
    const { name, key } = await created();
    const terminal = openTerminal(home, ['keys', 'revoke', name], { env: { TERM: 'dumb' } });
    expect(await terminal.exited).toBe(3);
    expect(terminal.text()).toContain('Pass --yes to confirm.');
    expect(terminal.bytes()).not.toContain('\x1b');
    expect(await statusWith(key)).toBe(200);
    await terminal.close();
  });
});

test('usage prints the calls of a key', async () => {
  const { keyId, key } = await created();
  expect((await home.run(['keys', 'usage', keyId])).stdout).toBe('calls in 30 days  0');
  await statusWith(key);
  await waitUntil('the call is counted', 30_000, async () => {
    const { total } = (await home.run(['keys', 'usage', keyId, '--json'])).json();
    return total === 1;
  });
  expect((await home.run(['keys', 'usage', keyId])).stdout).toMatch(/^\d{4}-\d\d-\d\d +1 +0$/m);
});

test('every command exits with 4 and an explanation for a caller with an API key', async () => {
  const { key } = await created();
  const commands = [['list'], ['create', 'x'], ['rotate', 'x'], ['revoke', 'x', '--yes'], ['usage', 'x']].map((args) => ['keys', ...args]);
  for (const args of [...commands, ['devices', 'list'], ['devices', 'revoke', '--all', '--yes'], ['branding', 'set', '--no-logo-url']]) {
    const { exitCode, json } = await home.run([...args, '--json'], { env: { EMAILAUTH_TOKEN: key } });
    expect([args, exitCode, json().error]).toEqual([args, 4, expect.objectContaining({ code: 'person_needed' })]);
    expect(json().error.hint).toContain('Unset EMAILAUTH_TOKEN');
  }
});
