import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { freePort, waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openRelay, type Relay } from './relay.ts';
import { openMailedLink, redirectOf, signInHome } from './sign-in.ts';

const { stage, service } = await useService();

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
const newHome = async (host = service.url): Promise<Home> => {
  const home = await openHome(host);
  open.push(home);
  return home;
};
const newRelay = async (change?: (body: string) => string): Promise<Relay> => {
  const relay = await openRelay(service.url, change);
  open.push(relay);
  return relay;
};

const isSignedIn = async (home: Home) => (await home.run(['whoami'])).exitCode === 0;

/** Starts `login` without a terminal and waits for its email. */
async function begin(home: Home) {
  const email = freshAddress('dev');
  const stop = new AbortController();
  const running = home.run(['login', '--json', '--email', email], { signal: stop.signal });
  return { email, running, stop, mail: await stage.mailbox.waitFor(email) };
}

test('prints JSON, writes to stderr what it waits for, and stores the sign-in readable only by its owner', async () => {
  const home = await newHome();
  const { email, running, mail } = await begin(home);
  await openMailedLink(mail);
  const { exitCode, stderr, json } = await running;
  expect(exitCode).toBe(0);
  expect(json()).toEqual({ email, host: service.url, expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/), source: 'credentials' });
  expect(stderr).toContain(`An email is on its way to ${email}.\nOpen its link on this machine within ten minutes`);
  const directory = join(home.directory, '.config/emailauth');
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
  expect([await mode(directory), await mode(join(directory, 'credentials.json'))]).toEqual(['700', '600']);
  expect((await home.run(['whoami', '--json'])).json()).toEqual(json());
});

test('accepts the code as a line of stdin, after a wrong one', async () => {
  const home = await newHome();
  const email = freshAddress('dev');
  const stdin = new PassThrough();
  const login = home.start(['login', '--email', email], { input: stdin });
  const { code } = await stage.mailbox.waitFor(email);
  stdin.write(`hello\n${code === '123456' ? '654321' : '123456'}\n`);
  await waitUntil('the wrong code is reported', 60_000, () => login.stderr().includes('4 tries are left'));
  stdin.write(`${code.slice(0, 3)} ${code.slice(3)} is your code for shop24.example\n`);
  const { exitCode, stdout, stderr } = await login.ended;
  expect([exitCode, stdout]).toEqual([0, `Signed in as ${email} at ${service.url}.`]);
  expect(stderr).toContain('write its six digits to stdin');
  expect(stderr).toContain('The code has six digits: 6 are missing.');
});

test('exits with 3 without --email or for an invalid address, and sends no email', async () => {
  const home = await newHome();
  for (const args of [['login'], ['login', '--no-input'], ['login', '--json']]) {
    const { exitCode, stdout, stderr } = await home.run(args);
    expect([exitCode, stdout + stderr]).toEqual([3, expect.stringContaining('--email <address>')]);
  }
  const { exitCode, stderr } = await home.run(['login', '--email', 'a@b.example, c@d.example']);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('Please enter a valid email address')]);
  expect(['a@b.example', 'c@d.example'].flatMap((address) => stage.mailbox.mailsFor(address))).toEqual([]);
});

test('exits with 8 for an unreachable service', async () => {
  const away = await newHome(`http://localhost:${await freePort()}`);
  const unreachable = await away.run(['login', '--email', freshAddress()]);
  expect([unreachable.exitCode, unreachable.stderr]).toEqual([8, expect.stringContaining('cannot be reached')]);
});

test('exits with 2 on Ctrl-C, stops listening and stores nothing', async () => {
  const home = await newHome();
  const { running, stop, mail } = await begin(home);
  const redirectUrl = await redirectOf(mail);
  stop.abort();
  const { exitCode, json } = await running;
  expect([exitCode, json().error.code]).toEqual([2, 'cancelled']);
  await expect(fetch(redirectUrl)).rejects.toThrow();
  expect(await isSignedIn(home)).toBe(false);
});

test('exits with 1 and a message when the email expires', async () => {
  const hasty = await newRelay((body) => body.replace('"expiresIn":600', '"expiresIn":1'));
  const home = await newHome(hasty.url);
  const { exitCode, stderr } = await home.run(['login', '--email', freshAddress()]);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('The email has expired, and you are not signed in.')]);
});

test('exits with 1 when the link was used before, and shows that in the browser', async () => {
  const { email, running, mail } = await begin(await newHome());
  const redirectUrl = await redirectOf(mail);
  await stage.query('update sign_in_attempts set consumed_at = now() where email = $1', [email]);
  const page = await fetch(redirectUrl);
  expect([page.status, await page.text()]).toEqual([400, expect.stringContaining('The sign-in did not work')]);
  const { exitCode, json } = await running;
  expect([exitCode, json().error.message]).toEqual([1, 'This sign-in email was used already or has expired.']);
});

test('rejects the link of another service and does not send its code (RFC 9207)', async () => {
  const attacker = await newRelay();
  const { running, mail } = await begin(await newHome(attacker.url));
  const page = await openMailedLink(mail);
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('This link comes from another service')]);
  const { exitCode, json } = await running;
  expect([exitCode, json().error.code]).toEqual([1, 'other_service']);
  expect(json().error.hint).toContain(`--host ${service.url}`);
  expect(attacker.paths).not.toContain('/api/auth/token');
});

describe('the listener', () => {
  /** Sends a request like a browser or another program of this machine. */
  function send(
    redirectUrl: string,
    changes: { path?: string; host?: string; method?: string },
  ): Promise<{ status: number; text: string }> {
    const { port, pathname, search, host } = new URL(redirectUrl);
    return new Promise((resolve, reject) => {
      const headers = { Host: changes.host ?? host };
      const options = { host: '127.0.0.1', port, method: changes.method ?? 'GET', path: changes.path ?? pathname + search, headers };
      const sent = request(options, async (response) => {
        let text = '';
        for await (const chunk of response) text += chunk;
        resolve({ status: response.statusCode ?? 0, text });
      });
      sent.on('error', reject).end();
    });
  }

  test('accepts only its own path, method, host and state, does not echo the request, and still accepts the right link', async () => {
    const { running, mail } = await begin(await newHome());
    const redirectUrl = await redirectOf(mail);
    const { port, search } = new URL(redirectUrl);
    const withQuery = (change: (query: URLSearchParams) => void) => {
      const query = new URLSearchParams(search);
      change(query);
      return { path: `/callback?${query}` };
    };
    const state = new URLSearchParams(search).get('state') as string;
    for (const [status, changes] of [
      [400, withQuery((query) => query.set('state', 'x'.repeat(32)))],
      [400, withQuery((query) => query.set('state', state.slice(1)))],
      [400, withQuery((query) => query.append('state', state))],
      [400, withQuery((query) => query.delete('state'))],
      [400, withQuery((query) => query.delete('code'))],
      [400, withQuery((query) => query.set('code', '<script>alert(1)</script>'))],
      [400, { path: '/callback' }],
      [404, { path: `/${search}` }],
      [404, { path: `/callback/${search}` }],
      [404, { path: `http://127.0.0.1:${port}/callback${search}` }],
      [404, { method: 'POST' }],
      [404, { method: 'HEAD' }],
      [404, { host: `evil.example:${port}` }],
      [404, { host: `localhost:${port}` }],
    ] as const) {
      const response = await send(redirectUrl, changes);
      expect([response.status, changes]).toEqual([status, changes]);
      expect(response.text).not.toMatch(/<script|xxxx/);
    }
    const page = await openMailedLink(mail);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.text).not.toMatch(/<script|code=|127\.0\.0\.1/);
    expect((await running).exitCode).toBe(0);
    await expect(fetch(redirectUrl)).rejects.toThrow();
  });

  test('listens only on 127.0.0.1', async () => {
    const { running, stop, mail } = await begin(await newHome());
    const { port } = new URL(await redirectOf(mail));
    const listening =
      (await readFile('/proc/net/tcp', 'utf8')) + (existsSync('/proc/net/tcp6') ? await readFile('/proc/net/tcp6', 'utf8') : '');
    const hex = Number(port).toString(16).toUpperCase().padStart(4, '0');
    const addresses = [...listening.matchAll(new RegExp(`: ([0-9A-F]+):${hex} 0+:0000 0A`, 'g'))].map(([, address]) => address);
    expect(addresses).toEqual(['0100007F']);
    stop.abort();
    await running;
  });
});

test('stores and reports the first --host of a profile, separately for each profile', async () => {
  const home = await newHome('');
  const email = freshAddress('dev');
  const running = home.run(['login', '--host', service.url, '--email', email]);
  await openMailedLink(await stage.mailbox.waitFor(email));
  const { stderr, stdout } = await running;
  expect(stderr).toContain(`From now on, commands of the profile "default" use ${service.url}.`);
  expect(stdout).toBe(`Signed in as ${email} at ${service.url}.`);
  expect((await home.run(['whoami', '--json'])).json()).toMatchObject({ email, host: service.url });
  const [work, env] = [['--profile', 'work'], { EMAILAUTH_HOST: service.url }];
  expect((await home.run(['whoami', ...work], { env })).exitCode).toBe(4);
  home.env.EMAILAUTH_HOST = service.url;
  const colleague = await signInHome(home, stage, freshAddress('work'), work);
  expect((await home.run(['whoami', '--json', ...work])).json().email).toBe(colleague);
  expect((await home.run(['whoami', '--json'])).json().email).toBe(email);
});

test('a second sign-in names, replaces and ends the previous one', async () => {
  const home = await newHome();
  const first = await signInHome(home, stage);
  const { token } = (await home.run(['token', '--json'])).json();
  const { email, running, mail } = await begin(home);
  await openMailedLink(mail);
  const { stderr } = await running;
  expect(stderr).toContain(`You are signed in at ${service.url} as ${first}.`);
  expect((await home.run(['whoami', '--json'])).json().email).toBe(email);
  expect((await service.client().get('/api/user/me', { Authorization: `Bearer ${token}` })).status).toBe(401);
});
