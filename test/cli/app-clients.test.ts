import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addGrant } from '../support/grants.ts';
import { useService } from '../support/harness.ts';
import { type Developer, freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';

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

const URI = 'https://notes.example/callback';
let number = 0;
const freshName = () => `App ${++number}`;
const added = async (input: object = {}): Promise<{ name: string; clientId: string; id: string }> =>
  (await ann.client.post('/api/clients', { name: freshName(), redirectUris: [URI], ...input })).json;

describe('apps add and update', () => {
  test('set up a confidential application and print its secret once', async () => {
    const name = freshName();
    const logout = ['--logout-uri', 'https://notes.example/bye', '--backchannel-logout-uri', 'https://notes.example/logout'];
    const ran = await home.run(['apps', 'add', name, '--redirect-uri', URI, '--auth', 'secret', '--scopes', 'openid', 'email', ...logout]);
    expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining('only this once')]);
    const secret = /ea_secret_[\w-]{43}/.exec(ran.stdout)?.[0] ?? 'none';
    const shown = await home.run(['apps', 'get', name, '--json', '--verbose']);
    expect(shown.json()).toMatchObject({
      authentication: 'secret',
      scopes: ['openid', 'email'],
      logoutUris: ['https://notes.example/bye'],
      backchannelLogoutUri: 'https://notes.example/logout',
    });
    expect(shown.stdout + shown.stderr + ran.stderr).not.toContain(secret);
    const cleared = await home.run(['apps', 'update', name, '--no-logout-uri', '--no-backchannel-logout-uri', '--json']);
    expect(cleared.json()).toMatchObject({ authentication: 'secret', logoutUris: [], backchannelLogoutUri: null });
    const refused = await home.run(['apps', 'update', name, '--auth', 'none']);
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining('--yes')]);
    expect((await home.run(['apps', 'update', name, '--auth', 'none', '--yes', '--json'])).json().authentication).toBe('none');
  });

  test('take the public keys of private_key_jwt from a file or an address', async () => {
    const name = freshName();
    const file = join(home.directory, 'jwks.json');
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(file, JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] }));
    const ran = await home.run(['apps', 'add', name, '--redirect-uri', URI, '--auth', 'private_key_jwt', '--jwks', file, '--json']);
    expect(ran.json().jwks.keys).toHaveLength(1);
    const moved = await home.run(['apps', 'update', name, '--jwks-uri', 'https://notes.example/jwks.json', '--json']);
    expect(moved.json()).toMatchObject({ jwks: null, jwksUri: 'https://notes.example/jwks.json' });
  });

  test('exit with 3 for settings that are not valid', async () => {
    const { name } = await added();
    for (const [flags, message] of [
      [['--auth', 'password'], 'cannot be "password"'],
      [['--scopes', 'admin'], 'cannot be "admin"'],
      [['--jwks', join(home.directory, 'missing.json')], '--jwks cannot be read'],
      [['--jwks', 'a', '--jwks-uri', 'b'], 'exclude each other'],
      [['--auth', 'private_key_jwt'], 'needs public keys'],
      [['--logout-uri', 'http://notes.example/'], 'must be https'],
    ] as const) {
      const ran = await home.run(['apps', 'update', name, ...flags]);
      expect([ran.exitCode, ran.stderr]).toEqual([3, expect.stringContaining(message)]);
    }
  });
});

describe('apps rotate-secret', () => {
  test('prints only the new secret on stdout, and exits with 6 while the former one is valid', async () => {
    const { name } = await added({ authentication: 'secret' });
    const ran = await home.run(['apps', 'rotate-secret', name]);
    expect(ran.stdout).toMatch(/^ea_secret_[\w-]{43}$/);
    expect(ran.stderr).toMatch(/only this once.*valid until/);
    expect((await home.run(['apps', 'rotate-secret', name])).exitCode).toBe(6);
    expect((await home.run(['apps', 'rotate-secret', name, '--grace', '0'])).exitCode).toBe(3);
    const last = await home.run(['apps', 'rotate-secret', name, '--grace', '0', '--yes', '--json']);
    expect(last.json()).toEqual({ clientId: expect.any(String), clientSecret: expect.any(String), formerSecretUntil: null });
  });
});

describe('apps refusals', () => {
  test('prints rejected requests with what to change, without control characters', async () => {
    const { name, clientId } = await added();
    expect((await home.run(['apps', 'refusals', name])).stderr).toContain('No request');
    const description = 'requested scope is not allowed \u001b[31m';
    await stage.query(
      `insert into sign_in_steps (application_id, action, result)
       select id, 'client_refused', 'invalid_scope: ' || $2 from applications where client_id = $1`,
      [clientId, description],
    );
    const ran = await home.run(['apps', 'refusals', name]);
    expect(ran.stdout).toMatch(/invalid_scope[\s\S]*not allowed[\s\S]*allow the scope/);
    expect(ran.stdout).not.toContain('\u001b[31m');
    const [refusal] = (await home.run(['apps', 'refusals', name, '--json'])).json();
    expect(Object.keys(refusal)).toEqual(['id', 'createdAt', 'error', 'description', 'remedy']);
  });
});

describe('connections', () => {
  test('are listed in words and revoked after a confirmation', async () => {
    expect((await home.run(['connections', 'list'])).stderr).toContain('not connected');
    const host = freshDomain();
    await addGrant(stage, { email: ann.email, clientId: `https://${host}` });
    expect((await home.run(['connections', 'list'])).stdout).toMatch(new RegExp(`${host}.*see your email address`));
    const [listed] = (await home.run(['connections', 'list', '--json'])).json();
    expect(Object.keys(listed)).toEqual(['id', 'clientId', 'name', 'hosts', 'kind', 'scopes', 'createdAt', 'lastUsed']);
    const refused = await home.run(['connections', 'revoke', host]);
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining('--yes')]);
    const revoked = await home.run(['connections', 'revoke', host, '--yes', '--json']);
    expect(revoked.json()).toEqual({ id: listed.id, clientId: listed.clientId, name: host, revoked: true });
    expect((await home.run(['connections', 'revoke', host, '--yes'])).exitCode).toBe(5);
  });
});
