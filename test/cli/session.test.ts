import { afterEach, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';
import { signInHome } from './sign-in.ts';
import { openTerminal } from './terminal.ts';

const { stage, service } = await useService();

const homes: Home[] = [];
afterEach(async () => {
  for (const home of homes.splice(0)) await home.close();
});
const newHome = async (host = service.url): Promise<Home> => {
  const home = await openHome(host);
  homes.push(home);
  return home;
};

const statusOf = async (token: string) => (await service.client().get('/api/user/me', { Authorization: `Bearer ${token}` })).status;

async function newApiKey(email?: string): Promise<string> {
  const { client } = await signInDeveloper(stage, service, email);
  return (await client.post('/api/api-keys', { name: 'Tests', environment: 'live' })).json.key;
}

describe('whoami', () => {
  test('exits with 4 and instructions when not signed in', async () => {
    const { exitCode, stdout, stderr } = await (await newHome()).run(['whoami']);
    expect([exitCode, stdout]).toEqual([4, '']);
    expect(stderr).toBe(`You are not signed in at ${service.url}.\nRun \`emailauth login\`, or set EMAILAUTH_TOKEN to an API key.`);
  });

  test('prints the account, service, source and expiry of a sign-in', async () => {
    const home = await newHome();
    const email = await signInHome(home, stage);
    const { stdout } = await home.run(['whoami']);
    expect(stdout).toMatch(
      new RegExp(`^${email} at ${service.url}\nby \`emailauth login\`, until \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC$`),
    );
  });

  test('EMAILAUTH_TOKEN takes precedence, as an API key and as a session', async () => {
    const home = await newHome();
    await signInHome(home, stage);
    const other = await signInDeveloper(stage, service);
    for (const token of [await newApiKey(other.email), String(other.client.cookies.get('sid'))]) {
      const { exitCode, json } = await home.run(['whoami', '--json'], { env: { EMAILAUTH_TOKEN: token } });
      expect([exitCode, json()]).toEqual([0, { email: other.email, host: service.url, expiresAt: null, source: 'EMAILAUTH_TOKEN' }]);
    }
  });

  test('exits with 4 for an ended sign-in and for an unknown token, with separate messages', async () => {
    const home = await newHome();
    const email = await signInHome(home, stage);
    await stage.query(
      "update sessions set expires_at = now() - interval '1 second' where user_id = (select id from users where email = $1)",
      [email],
    );
    const ended = await home.run(['whoami']);
    expect([ended.exitCode, ended.stderr]).toEqual([4, `Your sign-in at ${service.url} has ended.\nRun \`emailauth login\`.`]);
    const unknown = await home.run(['whoami'], { env: { EMAILAUTH_TOKEN: 'nobodys' } });
    expect([unknown.exitCode, unknown.stderr]).toEqual([4, expect.stringContaining(`${service.url} does not accept EMAILAUTH_TOKEN`)]);
  });
});

describe('token', () => {
  test('prints only the token on stdout; EMAILAUTH_TOKEN takes precedence', async () => {
    const home = await newHome();
    await signInHome(home, stage);
    const { stdout, stderr } = await home.run(['token']);
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^[\w-]{43}$/), '']);
    expect(await statusOf(stdout)).toBe(200);
    expect((await home.run(['token', '--json'])).json()).toMatchObject({ token: stdout, host: service.url, source: 'credentials' });
    const key = await newApiKey();
    const given = await home.run(['token', '--json'], { env: { EMAILAUTH_TOKEN: key } });
    expect(given.json()).toEqual({ token: key, host: service.url, expiresAt: null, source: 'EMAILAUTH_TOKEN' });
  });

  test('exits with 4 for a sign-in that has ended and for a token that the service does not accept', async () => {
    const home = await newHome();
    await signInHome(home, stage);
    const { stdout } = await home.run(['token']);
    await service.client().post('/api/auth/logout', {}, { Authorization: `Bearer ${stdout}` });
    const ended = await home.run(['token']);
    expect([ended.exitCode, ended.stdout, ended.stderr]).toEqual([4, '', expect.stringContaining('has ended')]);
    const unknown = await home.run(['token'], { env: { EMAILAUTH_TOKEN: 'given' } });
    expect([unknown.exitCode, unknown.stdout]).toEqual([4, '']);
  });

  test('warns in a terminal that the token gives full access', async () => {
    const home = await newHome();
    await signInHome(home, stage);
    const terminal = openTerminal(home, ['token']);
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toContain('it gives access to everything in your account');
    await terminal.close();
  });

  test('exits with 4 when not signed in', async () => {
    expect((await (await newHome()).run(['token'])).exitCode).toBe(4);
  });
});

describe('logout', () => {
  test('ends the session at the service, removes it, and succeeds a second time', async () => {
    const home = await newHome();
    const email = await signInHome(home, stage);
    const { stdout: token } = await home.run(['token']);
    const { exitCode, json } = await home.run(['logout', '--json']);
    expect([exitCode, json()]).toEqual([0, { signedOut: [{ host: service.url, email, ended: true }] }]);
    expect(await statusOf(token)).toBe(401);
    expect((await home.run(['whoami'])).exitCode).toBe(4);
    const again = await home.run(['logout']);
    expect([again.exitCode, again.stdout]).toEqual([0, `You are not signed in at ${service.url}.`]);
  });

  test('leaves EMAILAUTH_TOKEN unchanged', async () => {
    const home = await newHome();
    const email = await signInHome(home, stage);
    const key = await newApiKey();
    const { stdout, stderr } = await home.run(['logout'], { env: { EMAILAUTH_TOKEN: key } });
    expect(stdout).toBe(`Signed out ${email} at ${service.url}.`);
    expect(stderr).toContain('unset it to sign out completely');
    expect(await statusOf(key)).toBe(200);
  });

  test('--all ends the sessions of this profile at every service, and removes and reports one that is unreachable', async () => {
    const home = await newHome();
    const second = await stage.start();
    const here = await signInHome(home, stage);
    const elsewhere = await signInHome(home, stage, freshAddress('work'), ['--profile', 'work']);
    home.env.EMAILAUTH_HOST = second.url;
    const there = await signInHome(home, stage);
    await second.stop();
    const { exitCode, stdout, stderr } = await home.run(['logout', '--all']);
    expect([exitCode, stdout]).toEqual([0, `Signed out ${here} at ${service.url}.\nSigned out ${there} at ${second.url}.`]);
    expect(stderr).toMatch(
      new RegExp(`^${second.url} could not be reached\\. The session there expires on \\d{4}-\\d\\d-\\d\\d at the latest;`),
    );
    home.env.EMAILAUTH_HOST = service.url;
    expect((await home.run(['whoami'])).exitCode).toBe(4);
    expect((await home.run(['whoami', '--json', '--profile', 'work'])).json().email).toBe(elsewhere);
    expect((await home.run(['logout', '--all'])).stdout).toBe('You are not signed in at any service.');
  });
});
