import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CLI_CLIENT_ID } from '../../contract/pkce.ts';
import type { Client } from '../support/client.ts';
import { type Service, useProduction, useService } from '../support/harness.ts';
import { runOverlapping } from '../support/overlap.ts';
import { authorize, codeOf, exchange, freshAddress, signInDeveloper, tokenOf } from '../support/sign-ins.ts';

const { stage, service } = await useService();
const { service: second } = await useProduction();

/** Returns the status of a request with only this session cookie, at both instances. */
async function statusesOf(sid: string): Promise<number[]> {
  const statuses: number[] = [];
  for (const instance of [service, second]) {
    const attacker = instance.client();
    attacker.cookies.set('sid', sid);
    statuses.push((await attacker.get('/api/user/me')).status);
  }
  return statuses;
}

const sidOf = (client: Client) => client.cookies.get('sid') ?? '';

/** Returns a client at an instance with a copy of the cookies of `client`. */
function copyOf(client: Client, instance: Service = service): Client {
  const copy = instance.client();
  copy.cookies = new Map(client.cookies);
  // `runOverlapping` repeats what got 503, in the same order.
  copy.retriesUnavailable = false;
  return copy;
}

/** Starts a sign-in and waits for its email. @returns the exchange that completes it */
async function beginSignIn(client: Client, email: string): Promise<(through?: Client) => ReturnType<typeof exchange>> {
  const { pkce } = await authorize(client, email);
  const code = codeOf(await stage.mailbox.waitFor(email));
  return (through = client) => exchange(through, code, pkce.codeVerifier);
}

async function signInAgain(client: Client, email: string): Promise<void> {
  const finish = await beginSignIn(client, email);
  expect((await finish()).status).toBe(200);
}

/** Signs in with the client of the command line, without cookies. @returns the bearer token */
async function signInProgram(email: string): Promise<string> {
  const redirect_uri = 'http://127.0.0.1:51236/callback';
  const { pkce, attempt } = await authorize(service.client(), email, { client_id: CLI_CLIENT_ID, redirect_uri });
  const { code } = await stage.mailbox.waitFor(email);
  const typed = await service.client().post('/api/auth/email-code', { email, code, state: pkce.state, attempt });
  const body = { code: typed.json.code, code_verifier: pkce.codeVerifier, client_id: CLI_CLIENT_ID };
  return (await service.client().post('/api/auth/token', body)).json.access_token;
}

const statusWith = async (token: string) => (await service.client().get('/api/user/me', { Authorization: `Bearer ${token}` })).status;

const lockUser = (email: string): [string, unknown[]] => ['select from users where email = $1 for update', [email]];

describe('a sign-in', () => {
  test('ends the previous session of the browser at every instance', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const stolen = sidOf(client);
    expect(await statusesOf(stolen)).toEqual([200, 200]);
    await signInAgain(client, email);
    expect(await statusesOf(stolen)).toEqual([401, 401]);
    expect(await statusesOf(sidOf(client))).toEqual([200, 200]);
  });

  test('to another account ends the previous session and keeps the first account remembered', async () => {
    const { client, email, authKey } = await signInDeveloper(stage, service);
    const stolen = sidOf(client);
    await signInAgain(client, freshAddress('dev'));
    expect(await statusesOf(stolen)).toEqual([401, 401]);
    expect((await client.post('/api/auth/validate-key', { email, key: authKey })).status).toBe(200);
  });

  test('ends the session of a browser that has lost its device cookie', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const stolen = sidOf(client);
    client.cookies.delete('device');
    await signInAgain(client, email);
    expect(await statusesOf(stolen)).toEqual([401, 401]);
  });

  test('ends the session of a device whose browser has lost its session cookie', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const stolen = sidOf(client);
    client.cookies.delete('sid');
    await signInAgain(client, email);
    expect(await statusesOf(stolen)).toEqual([401, 401]);
  });

  // One in 20,000 random tokens begins like an API key or a JSON Web Token, in upper or lower case.
  test.each(['ea_', 'EA_', 'eyJ', 'EYJ'])('of a program is valid also when its token begins with %s', async (prefix) => {
    const email = freshAddress('dev');
    const issued = await signInProgram(email);
    const token = prefix + randomBytes(30).toString('base64url');
    expect(token).toHaveLength(issued.length);
    await stage.query('update sessions set hash = sha256($1) where hash = sha256($2)', [Buffer.from(token), Buffer.from(issued)]);
    for (const [value, status] of Object.entries({ [token]: 200, [issued]: 401 })) expect(await statusWith(value)).toBe(status);
  });

  test('by a portal token ends the previous session', async () => {
    const { client, email, authKey } = await signInDeveloper(stage, service);
    const stolen = sidOf(client);
    const { redirectUrl } = (await client.post('/api/auth/validate-key', { email, key: authKey })).json;
    expect((await client.post('/api/auth/token-login', { token: tokenOf(redirectUrl) })).status).toBe(200);
    expect(await statusesOf(stolen)).toEqual([401, 401]);
    expect(await statusesOf(sidOf(client))).toEqual([200, 200]);
  });

  test('that is rejected ends no session', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const { pkce } = await authorize(client, email);
    const code = codeOf(await stage.mailbox.waitFor(email));
    expect((await exchange(client, code, 'x'.repeat(43))).status).toBe(400);
    expect(await statusesOf(sidOf(client))).toEqual([200, 200]);
    expect((await exchange(client, code, pkce.codeVerifier)).status).toBe(200);
  });

  test('keeps the sessions of the account in other browsers and programs', async () => {
    const email = freshAddress('dev');
    const one = await signInDeveloper(stage, service, email);
    const programs = [await signInProgram(email), await signInProgram(email)];
    const two = await signInDeveloper(stage, service, email);
    expect(await statusesOf(sidOf(one.client))).toEqual([200, 200]);
    for (const token of programs) expect(await statusWith(token)).toBe(200);
    await two.client.post('/api/auth/logout');
    expect(await statusesOf(sidOf(one.client))).toEqual([200, 200]);
    await service.client().post('/api/auth/logout', {}, { Authorization: `Bearer ${programs[0]}` });
    expect([await statusWith(programs[0]), await statusWith(programs[1])]).toEqual([401, 200]);
    expect(await statusesOf(sidOf(one.client))).toEqual([200, 200]);
  });

  test('leaves one session when two run concurrently in one browser at two instances', async () => {
    const { browsers, responses } = await runOverlapping(stage, async () => {
      const { client, email } = await signInDeveloper(stage, service);
      const browsers = [copyOf(client), copyOf(client, second)];
      const finishFirst = await beginSignIn(client, email);
      const finishSecond = await beginSignIn(client, freshAddress('dev'));
      return { browsers, lock: lockUser(email), first: () => finishFirst(browsers[0]), second: () => finishSecond(browsers[1]) };
    });
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    expect(await statusesOf(sidOf(browsers[0]))).toEqual([401, 401]);
    expect(await statusesOf(sidOf(browsers[1]))).toEqual([200, 200]);
  });
});

describe('a logout', () => {
  test('ends every session of the device, including one of another version of the service', async () => {
    const { client, email, authKey } = await signInDeveloper(stage, service);
    const left = 'L'.repeat(43);
    await stage.query(
      `insert into sessions (hash, user_id, device, expires_at) select sha256($1), user_id, device, expires_at from sessions
       where hash = sha256($2)`,
      [Buffer.from(left), Buffer.from(sidOf(client))],
    );
    expect(await statusesOf(left)).toEqual([200, 200]);
    const current = sidOf(client);
    const { redirectUrl } = (await client.post('/api/auth/validate-key', { email, key: authKey })).json;
    expect((await copyOf(client, second).post('/api/auth/logout')).json).toEqual({ success: true });
    expect(await statusesOf(left)).toEqual([401, 401]);
    expect(await statusesOf(current)).toEqual([401, 401]);
    expect((await client.post('/api/auth/validate-key', { email, key: authKey })).status).toBe(401);
    expect((await client.post('/api/auth/token-login', { token: tokenOf(redirectUrl), confirm: true })).status).toBe(401);
  });

  test('without the session cookie ends the sessions of the device cookie', async () => {
    const { client } = await signInDeveloper(stage, service);
    const stolen = sidOf(client);
    client.cookies.delete('sid');
    await client.post('/api/auth/logout');
    expect(await statusesOf(stolen)).toEqual([401, 401]);
  });

  test('with an ended session and no device cookie ends no other session', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    const stolen = sidOf(client);
    await signInAgain(client, email);
    const attacker = service.client();
    attacker.cookies.set('sid', stolen);
    expect((await attacker.post('/api/auth/logout')).json).toEqual({ success: true });
    expect(await statusesOf(sidOf(client))).toEqual([200, 200]);
  });

  test('writes one audit row for each account that was signed in', async () => {
    const { client, email } = await signInDeveloper(stage, service);
    await stage.query(
      `insert into sessions (hash, user_id, device, expires_at) select sha256(hash), user_id, device, expires_at from sessions
       where hash = sha256($1)`,
      [Buffer.from(sidOf(client))],
    );
    await client.post('/api/auth/logout');
    await client.post('/api/auth/logout');
    const rows = await stage.query("select 1 from audit_log where email = $1 and action = 'developer_signed_out'", [email]);
    expect(rows).toHaveLength(1);
  });

  test('ends the session of a sign-in at another instance that has not committed yet', async () => {
    const { browser, responses } = await runOverlapping(stage, async () => {
      const { client, email } = await signInDeveloper(stage, service);
      const browser = copyOf(client, second);
      const finish = await beginSignIn(client, email);
      return { browser, lock: lockUser(email), first: () => finish(browser), second: () => copyOf(client).post('/api/auth/logout') };
    });
    expect(responses[0].status).toBe(200);
    expect(await statusesOf(sidOf(browser))).toEqual([401, 401]);
  });

  test('ends the portal token that the browser’s key is exchanged for at the same time', async () => {
    const { browser, enter, responses } = await runOverlapping(stage, async () => {
      const { client, email, authKey } = await signInDeveloper(stage, service);
      const browser = copyOf(client, second);
      const enter = () => browser.post('/api/auth/validate-key', { email, key: authKey });
      const lock: [string, unknown[]] = ['select from remembered_keys where email = $1 for update', [email]];
      return { browser, enter, lock, first: enter, second: () => copyOf(client).post('/api/auth/logout') };
    });
    expect(responses[0].status).toBe(200);
    const token = tokenOf(responses[0].json.redirectUrl);
    expect((await browser.post('/api/auth/token-login', { token, confirm: true })).status).toBe(401);
    expect((await enter()).status).toBe(401);
  });
});
