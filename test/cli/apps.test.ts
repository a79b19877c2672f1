import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { authorize, type Developer, freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

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
const LOCAL = 'http://localhost/callback';
const APP = [
  ...['id', 'name', 'clientId', 'redirectUris', 'isActive', 'createdAt', 'authentication', 'jwks', 'jwksUri'],
  ...['logoutUris', 'backchannelLogoutUri', 'pkceRequired', 'scopes', 'formerSecretUntil'],
];
let number = 0;
const freshName = () => `App ${++number}`;
const appsOf = async ({ client }: Developer) => (await client.get('/api/clients')).json as { name: string; isActive: boolean }[];
const added = async (name = freshName()): Promise<{ name: string; clientId: string; id: string }> =>
  (await ann.client.post('/api/clients', { name, redirectUris: [URI] })).json;

describe('list', () => {
  test('explains how to add an application when there is none', async () => {
    const other = await signInDeveloper(stage, service);
    const env = { EMAILAUTH_TOKEN: other.client.cookies.get('sid') as string };
    const text = await home.run(['apps', 'list'], { env });
    expect([text.exitCode, text.stdout, text.stderr]).toEqual([0, '', expect.stringContaining('emailauth apps add')]);
    expect((await home.run(['apps', 'list', '--json'], { env })).json()).toEqual([]);
  });

  test('prints each application', async () => {
    const { name, clientId } = await added();
    expect((await home.run(['apps', 'list'])).stdout).toMatch(new RegExp(`^${name} +${clientId} +yes +${URI}$`, 'm'));
    const listed = (await home.run(['apps', 'list', '--json'])).json();
    expect(Object.keys(listed[0])).toEqual(APP);
    expect(listed.map((app: { clientId: string }) => app.clientId)).toContain(clientId);
  });
});

describe('add', () => {
  test('adds an application with several redirect URIs, through which a person can sign in', async () => {
    const name = freshName();
    const ran = await home.run(['apps', 'add', name, '--redirect-uri', URI, LOCAL, '--json']);
    expect([ran.exitCode, Object.keys(ran.json())]).toEqual([0, APP]);
    expect(ran.json()).toMatchObject({ name, redirectUris: [URI, LOCAL], isActive: true });
    const { response } = await authorize(service.client(), freshAddress(), { client_id: ran.json().clientId, redirect_uri: URI });
    expect(response.status).toBe(200);
  });

  test('exits with 3 for an invalid redirect URI, and when it cannot prompt', async () => {
    const bad = await home.run(['apps', 'add', freshName(), '--redirect-uri', 'http://notes.example/', '--json']);
    expect([bad.exitCode, bad.json().error.message]).toEqual([3, expect.stringContaining('must be https')]);
    const missing = await home.run(['apps', 'add']);
    expect([missing.exitCode, missing.stderr]).toEqual([3, expect.stringContaining('<name> is missing')]);
    const noUri = await home.run(['apps', 'add', freshName()]);
    expect([noUri.exitCode, noUri.stderr]).toEqual([3, expect.stringContaining('--redirect-uri <uri> is missing')]);
  });

  test('prompts for the name and the redirect URI in a terminal', async () => {
    const name = freshName();
    const terminal = openTerminal(home, ['apps', 'add']);
    await terminal.waitFor('Name');
    terminal.type(`${name}${KEYS.enter}`);
    await terminal.waitFor('Redirect URI');
    terminal.type(`${URI}${KEYS.enter}`);
    await terminal.waitFor('client ID');
    expect(await terminal.exited).toBe(0);
    expect((await appsOf(ann)).map((app) => app.name)).toContain(name);
    await terminal.close();
  });
});

describe('get, update and remove', () => {
  test('find an application by its name in any case, its client ID and its id; others exit with 5', async () => {
    const { name, clientId, id } = await added();
    for (const text of [name, name.toUpperCase(), clientId, id]) {
      const ran = await home.run(['apps', 'get', text, '--json']);
      expect([text, ran.exitCode, ran.json().clientId]).toEqual([text, 0, clientId]);
    }
    const unknown = await home.run(['apps', 'get', 'nope', '--json']);
    expect([unknown.exitCode, unknown.json().error]).toEqual([5, expect.objectContaining({ code: 'application_not_found' })]);
  });

  test('exit with 3 for a name that several applications have, and list their client IDs', async () => {
    const name = freshName();
    const [one, other] = [await added(name), await added(name)];
    const { exitCode, stderr } = await home.run(['apps', 'remove', name, '--yes']);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining(other.clientId)]);
    expect(stderr).toContain(one.clientId);
    expect((await appsOf(ann)).filter((app) => app.name === name)).toHaveLength(2);
  });

  test('update changes only what is given, and switches off only after a confirmation', async () => {
    const { clientId, name } = await added();
    const nothing = await home.run(['apps', 'update', clientId]);
    expect([nothing.exitCode, nothing.stderr]).toEqual([3, expect.stringContaining('--redirect-uri')]);
    const moved = await home.run(['apps', 'update', clientId, '--redirect-uri', LOCAL, '--json']);
    expect(moved.json()).toMatchObject({ name, clientId, redirectUris: [LOCAL], isActive: true });
    const refused = await home.run(['apps', 'update', clientId, '--no-active', '--json']);
    expect([refused.exitCode, refused.json().error.hint]).toEqual([3, 'Pass --yes to confirm.']);
    const off = await home.run(['apps', 'update', clientId, '--no-active', '--yes', '--json']);
    expect(off.json()).toMatchObject({ redirectUris: [LOCAL], isActive: false });
    expect((await home.run(['apps', 'update', clientId, '--active', '--json'])).json().isActive).toBe(true);
  });

  test('remove needs a confirmation', async () => {
    const { name, clientId, id } = await added();
    expect((await home.run(['apps', 'remove', name])).exitCode).toBe(3);
    const ran = await home.run(['apps', 'remove', name, '--yes', '--json']);
    expect([ran.exitCode, ran.json()]).toEqual([0, { id, name, clientId, removed: true }]);
    expect((await appsOf(ann)).map((app) => app.name)).not.toContain(name);
  });
});

test('log prints the sign-ins of an application', async () => {
  const { clientId } = await added();
  const empty = await home.run(['apps', 'log', clientId]);
  expect([empty.exitCode, empty.stdout, empty.stderr]).toEqual([0, '', expect.stringContaining('No one has signed in')]);
  const email = freshAddress();
  await authorize(service.client(), email, { client_id: clientId, redirect_uri: URI });
  const { stdout } = await home.run(['apps', 'log', clientId]);
  expect(stdout).toMatch(new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d +sign_in_requested +${email}$`, 'm'));
  expect((await home.run(['apps', 'log', clientId, '--json'])).json()).toMatchObject([{ action: 'sign_in_requested', email }]);
});
