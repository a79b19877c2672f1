import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect as connectTcp, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { type Home, openHome } from '../../cli/command.ts';
import { openMailedLink, redirectOf, signInHome } from '../../cli/sign-in.ts';
import { useService } from '../../support/harness.ts';
import { addWebsite, type Developer, freshAddress, freshDomain, signInDeveloper } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { callTool, type McpClient } from './clients.ts';
import { exampleFor, type Scene } from './examples.ts';
import { connectHere, startIn, stdioGenerations } from './stdio.ts';

const { stage, service, names } = await useService();
let owner: Developer;
beforeAll(async () => {
  owner = await signInDeveloper(stage, service);
});

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
async function newHome(host = service.url): Promise<Home> {
  const home = await openHome(host);
  open.push(home);
  return home;
}
async function connect(...start: Parameters<typeof connectHere>): Promise<McpClient> {
  const client = await connectHere(...start);
  open.push(client);
  return client;
}
const tryCode = (client: McpClient, loginId: unknown, code: string) => callTool(client, 'complete_login', { loginId, code });

test('every tool can be called, signed in by the code of an email', async () => {
  const client = await connect(startIn(await newHome(), [], { DNS_SERVERS: names.address }));
  const { tools } = await client.listTools();
  const scene: Scene = { stage, service, owner, calls: new Map() };
  // Tools that need an account come after the sign-in.
  const first = ['start_login', 'complete_login'];
  const order = [...first, ...tools.map(({ name }) => name).filter((name) => !first.includes(name))];
  for (const name of order) {
    const input = await exampleFor(name, scene);
    const { failed, response } = await callTool(client, name, input);
    expect([name, failed]).toEqual([name, null]);
    scene.calls.set(name, { input, response });
  }
  expect(tools).toHaveLength(scene.calls.size);
  expect(scene.calls.get('get_status')?.response).toMatchObject({ authenticated: true, email: owner.email });
});

test.each(Object.keys(stdioGenerations) as (keyof typeof stdioGenerations)[])(
  '%s starts the command, signs in, lists the tools, reads the resources and gets the prompts',
  async (generation) => {
    const client = await stdioGenerations[generation](startIn(await newHome()));
    open.push(client);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['start_login', 'list_sites']));
    const email = freshAddress('dev');
    const { loginId } = (await callTool(client, 'start_login', { email })).response;
    expect((await tryCode(client, loginId, (await stage.mailbox.waitFor(email)).code)).response).toEqual({ email });
    expect((await callTool(client, 'get_status')).response).toMatchObject({ authenticated: true, email });
    for (const { uri } of (await client.listResources()).resources) {
      const { contents } = await client.readResource({ uri });
      expect([uri, contents[0]]).toEqual([uri, expect.objectContaining({ text: expect.stringMatching(/\S/) })]);
    }
    expect((await client.listPrompts()).prompts.length).toBeGreaterThan(0);
  },
);

test('a sign-in by an assistant also signs the command line in', async () => {
  const home = await newHome();
  const client = await connect(startIn(home));
  const unauthenticated = await callTool(client, 'list_sites');
  expect(unauthenticated.failed).toContain('Call start_login');
  const { client: browser, email } = await signInDeveloper(stage, service);
  const domain = freshDomain();
  expect((await browser.post('/api/websites', { domain })).status).toBe(200);

  const { response } = await callTool(client, 'start_login', { email });
  const mail = await stage.mailbox.waitFor(email);
  const [{ code }, listener] = [mail, new URL(await redirectOf(mail)).origin];
  expect((await fetch(listener)).status).toBe(404);
  expect(response).toEqual({ loginId: expect.stringMatching(/^[\w-]{22}$/), expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) });
  const wrong = await tryCode(client, response.loginId, code === '123456' ? '654321' : '123456');
  expect(wrong.failed).toContain('This code is wrong. 4 tries are left.');
  expect((await tryCode(client, response.loginId, 'no code')).failed).toContain('six digits');
  expect((await tryCode(client, 'another', code)).failed).toMatch(/unknown.*start_login again/);
  expect((await tryCode(client, response.loginId, `${code.slice(0, 3)} ${code.slice(3)}`)).response).toEqual({ email });
  expect((await callTool(client, 'list_sites')).text).toContain(domain);
  expect((await home.run(['whoami', '--json'])).json()).toMatchObject({ email, source: 'credentials' });
  await expect(fetch(listener)).rejects.toThrow();
  // A second request returns the same sign-in.
  expect((await tryCode(client, response.loginId, code)).response).toEqual({ email });
});

test('the link of the email also signs in, and its page confirms that', async () => {
  const home = await newHome();
  const client = await connect(startIn(home));
  const email = freshAddress('dev');
  const { response } = await callTool(client, 'start_login', { email });
  const page = await openMailedLink(await stage.mailbox.waitFor(email));
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Tell your assistant to continue.')]);
  expect((await callTool(client, 'get_status')).response).toMatchObject({ authenticated: true, email });
  expect((await tryCode(client, response.loginId, '000000')).response).toEqual({ email });
});

test('two concurrent logins have separate codes; five wrong codes end one but not its link, and the other replaces no session', async () => {
  const home = await newHome();
  const client = await connect(startIn(home));
  const [one, two] = [freshAddress('dev'), freshAddress('dev')];
  const first = (await callTool(client, 'start_login', { email: one })).response.loginId;
  const second = (await callTool(client, 'start_login', { email: two })).response.loginId;
  const [mail, { code }] = [await stage.mailbox.waitFor(one), await stage.mailbox.waitFor(two)];
  const wrong = mail.code !== code ? code : code === '111111' ? '222222' : '111111';
  for (const left of ['4 tries are', '3 tries are', '2 tries are', 'One try is'])
    expect((await tryCode(client, first, wrong)).failed).toContain(`${left} left`);
  for (const each of [wrong, mail.code]) expect((await tryCode(client, first, each)).failed).toContain('Too many wrong codes');
  expect((await openMailedLink(mail)).status).toBe(200);
  expect((await tryCode(client, first, wrong)).response).toEqual({ email: one });
  const logout = `\`emailauth logout --host ${service.url}\` ends it`;
  expect((await tryCode(client, second, code)).failed).toContain(logout);
  expect((await callTool(client, 'get_status')).response).toMatchObject({ authenticated: true, email: one });
});

test('a valid sign-in is replaced only by the same address', async () => {
  const home = await newHome();
  const client = await connect(startIn(home));
  const [email, other] = [await signInHome(home, stage), freshAddress('dev')];
  const refused = (await callTool(client, 'start_login', { email: other })).failed;
  expect(refused).toMatch(
    /^Another address is signed in.*Ask the person; `emailauth logout --host \S+` ends it, then call start_login again\.$/,
  );
  expect(refused).not.toContain(email);
  const again = await callTool(client, 'start_login', { email });
  expect(again.failed).toBeNull();

  const path = join(home.directory, '.config/emailauth/credentials.json');
  const stored = JSON.parse(await readFile(path, 'utf8'));
  stored.default[service.url].expiresAt = new Date(Date.now() - 1000).toISOString();
  await writeFile(path, JSON.stringify(stored));
  expect((await callTool(client, 'start_login', { email: other })).failed).toBeNull();
  expect((await home.run(['logout'])).exitCode).toBe(0);
  expect((await callTool(client, 'start_login', { email: other })).failed).toBeNull();
});

test('the oldest of more than twenty logins is discarded', async () => {
  const client = await connect(startIn(await newHome()));
  const ids: unknown[] = [];
  const addresses = Array.from({ length: 21 }, () => freshAddress('dev'));
  for (const email of addresses) ids.push((await callTool(client, 'start_login', { email })).response.loginId);
  const [first, second] = [await stage.mailbox.waitFor(addresses[0]), await stage.mailbox.waitFor(addresses[1])];
  expect((await tryCode(client, ids[0], first.code)).failed).toContain('start_login again');
  expect((await tryCode(client, ids[1], second.code)).response).toEqual({ email: addresses[1] });
});

test('a login, a logout and the end of the session in another terminal take effect immediately', async () => {
  const home = await newHome();
  const client = await connect(startIn(home));
  expect((await callTool(client, 'get_status')).response).toMatchObject({ authenticated: false });
  const email = await signInHome(home, stage);
  expect((await callTool(client, 'get_status')).response).toMatchObject({ authenticated: true, email });
  await stage.query('delete from sessions where user_id = (select id from users where email = $1)', [email]);
  const ended = await callTool(client, 'list_sites');
  expect(ended.failed).toMatch(/has ended\. Call start_login/);
  expect((await callTool(client, 'get_status')).response).toMatchObject({ authenticated: false });
});

test('EMAILAUTH_TOKEN takes precedence: a test key cannot change anything, and an invalid key must be corrected', async () => {
  const { key } = (await owner.client.post('/api/api-keys', { name: 'Assistant', environment: 'test' })).json;
  const client = await connect(startIn(await newHome(), [], { EMAILAUTH_TOKEN: key }));
  expect((await callTool(client, 'get_status')).response).toMatchObject({ authenticated: true, email: owner.email });
  const domain = await addWebsite(stage, service);
  expect((await callTool(client, 'delete_site', { domain, confirmDomain: domain })).failed).not.toBeNull();
  expect((await callTool(client, 'start_login', { email: freshAddress() })).failed).toMatch(
    /EMAILAUTH_TOKEN is set.*start_login cannot help/,
  );

  for (const EMAILAUTH_TOKEN of ['ea_live_nothing', 'no-key', 'with space']) {
    const bad = await connect(startIn(await newHome(), [], { EMAILAUTH_TOKEN }));
    for (const tool of ['list_sites', 'get_status']) expect((await callTool(bad, tool)).failed).toMatch(/EMAILAUTH_TOKEN/);
  }
});

test('--read-only omits tools that change data and refers to the command', async () => {
  const client = await connect(startIn(await newHome(), ['--read-only', '--profile', 'work']));
  const offered = (await client.listTools()).tools;
  expect(offered.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  expect(offered.map(({ name }) => name)).toEqual(expect.arrayContaining(['get_status', 'list_sites', 'scaffold_integration']));
  expect((await callTool(client, 'list_sites')).failed).toContain(`\`emailauth login --host ${service.url} --profile work\``);
});

test('explains how to start a service that is down, and works once it is up', async () => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const client = await connect(startIn(await newHome(url)));
  const { failed } = await callTool(client, 'get_status');
  expect(failed).toMatch(/cannot be reached\. .*`emailauth start`.*--host/);
  expect((await callTool(client, 'start_login', { email: freshAddress() })).failed).toContain('cannot be reached');
  const proxy = createServer((socket) => void socket.pipe(connectTcp(service.port, '127.0.0.1')).pipe(socket)).listen(port, 'localhost');
  open.unshift({ close: async () => proxy.close() });
  await once(proxy, 'listening');
  expect((await callTool(client, 'get_status')).response).toMatchObject({ host: url });
});

test('--host and --profile select the sign-in', async () => {
  const home = await newHome('http://127.0.0.1:1');
  const email = await signInHome(home, stage, freshAddress('dev'), ['--host', service.url, '--profile', 'work']);
  const client = await connect(startIn(home, ['--host', service.url, '--profile', 'work']));
  expect((await callTool(client, 'get_status')).response).toMatchObject({ host: service.url, email });
  const stored = JSON.parse(await readFile(join(home.directory, '.config/emailauth/credentials.json'), 'utf8'));
  expect(Object.keys(stored)).toEqual(['work']);
});
