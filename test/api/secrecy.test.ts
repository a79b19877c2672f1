// A stage of its own: it reads every table, changes one and stops the service.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, type Service, type Stage } from '../support/harness.ts';
import {
  addWebsite,
  authorize,
  codeOf,
  exchange,
  freshAddress,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
} from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

let stage: Stage;
let service: Service;
let shop: string;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start({ LOG_LEVEL: 'trace' });
  shop = await addWebsite(stage, service);
});
afterAll(() => stage.close());

/** Returns every row of every table as text, including the tables of the job queue. */
async function dump(): Promise<string> {
  const tables = await stage.query(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(5);
  let text = '';
  for (const { name } of tables) {
    for (const { row } of await stage.query(`select t::text as row from ${name} t`)) text += `${name} ${row}\n`;
  }
  return text;
}

/** Returns a secret in each encoding in which it could be stored. */
function formsOf(secret: string): string[] {
  const decoded = Buffer.from(secret, 'base64url');
  return [secret, encodeURIComponent(secret), Buffer.from(secret).toString('hex'), decoded.toString('hex'), decoded.toString('base64')];
}

test('the log of an error has the reference of the response, and the response shows no internals', async () => {
  await stage.query('alter table sessions rename to sessions_away');
  const begun = await authorize(service.client());
  const code = codeOf(await stage.mailbox.waitFor(begun.email));
  const response = await exchange(service.client(), code, begun.pkce.codeVerifier).finally(() =>
    stage.query('alter table sessions_away rename to sessions'),
  );
  expect(response.status).toBe(500);
  expect(response.text).not.toMatch(/sessions|select|insert|\.ts|\.js|node_modules/);
  const { reference } = response.json;
  expect(reference).toMatch(/^\w{6,}$/);
  await waitUntil('the log has the reference', 30_000, () => service.output().includes(reference));
});

test('known and unknown addresses get the same status, body and headers', async () => {
  const known = (await signInDeveloper(stage, service)).email;
  const shapes = new Set<string>();
  for (const email of [known, freshAddress(), known, freshAddress()]) {
    const response = await requestEmail(service.client(), email, `https://${shop}/`);
    const { date, 'x-request-id': requestId, ...headers } = response.headers;
    expect([date, requestId].every(Boolean)).toBe(true);
    const cookies = response.setCookies.map((line) => line.replace(/=[^;]*/, '='));
    shapes.add(JSON.stringify([response.status, response.text, { ...headers, 'set-cookie': cookies }]));
  }
  expect([...shapes]).toHaveLength(1);
});

// The last test, since it stops the service.
test('the database and all logs contain no issued secret', async () => {
  const secrets: Record<string, string> = {};
  const [client, email] = [service.client(), freshAddress()];

  // One whose email is still in the outbox.
  await stage.mailbox.down();
  await requestEmail(client, email, `https://${shop}/`);
  const whilePending = await dump();
  await stage.mailbox.up();
  const waiting = await stage.mailbox.waitFor(email);
  secrets['a link not yet sent'] = new URL(waiting.link).searchParams.get('t') ?? '';
  for (const form of formsOf(secrets['a link not yet sent'])) expect(whilePending).not.toContain(form);
  expect(whilePending).not.toMatch(new RegExp(`(?<![\\d.])${waiting.code}(?!\\d)`));

  const location = await openLink(client, waiting);
  secrets['a token that is not used yet'] = tokenOf(location);
  secrets['the attempt cookie'] = client.cookies.get('attempt') ?? '';
  secrets['the device cookie'] = client.cookies.get('device') ?? '';
  secrets['the key of a remembered account'] = decodeURIComponent(client.cookies.get('auth_key') ?? '').split('.')[1];
  const quick = await client.post('/api/auth/validate-key', {
    email,
    key: decodeURIComponent(client.cookies.get('auth_key') ?? ''),
    forward_url: `https://${shop}/`,
  });
  secrets['a token of a quick login'] = tokenOf(quick.json.redirectUrl);

  const developer = await signInDeveloper(stage, service);
  secrets['a session'] = developer.client.cookies.get('sid') ?? '';
  secrets['an authKey'] = developer.authKey.split('.')[1];
  const apiKey = (await developer.client.post('/api/api-keys', { name: 'a key', environment: 'live' })).json;
  const successor = (await developer.client.post(`/api/api-keys/${apiKey.id}/rotate`, {})).json;
  secrets['an API key'] = apiKey.key.slice('ea_live_'.length);
  secrets['a rotated API key'] = successor.key.slice('ea_live_'.length);
  for (const { key } of [apiKey, successor]) await service.client().get('/api/websites', { Authorization: `Bearer ${key}` });
  const redirect_uri = 'https://app.example/callback';
  const { clientId: client_id } = (await developer.client.post('/api/clients', { name: 'an app', redirectUris: [redirect_uri] })).json;
  const user = await authorize(service.client(), freshAddress(), { client_id, redirect_uri });
  const code = new URL((await stage.mailbox.waitFor(user.email)).link).searchParams.get('t');
  await service.client().get(`/auth/link?t=${code}`);
  const granted = await service.client().post('/api/auth/token', { code, code_verifier: user.pkce.codeVerifier, client_id });
  secrets["an application's token"] = granted.json.access_token;
  await service.client().get('/api/user/me', { Authorization: `Bearer ${granted.json.access_token}` });
  const begun = await authorize(service.client());
  secrets['an authorization code'] = codeOf(await stage.mailbox.waitFor(begun.email));
  secrets['a verifier'] = begun.pkce.codeVerifier;
  await exchange(service.client(), secrets['an authorization code'], 'x'.repeat(43));
  await service.client().post('/api/auth/token-login', { token: secrets['a token of a quick login'] });
  await service.client().get(`/api/verify-token?token=${secrets['a token of a quick login']}&token=2`);

  const rows = await dump();
  // Log lines are written half a second later or when the service stops.
  expect(await service.stop()).toBe(0);
  const held = { 'the database': rows, 'the log': service.output() };
  for (const [what, secret] of Object.entries(secrets)) {
    expect([what, secret.length >= 40]).toEqual([what, true]);
    for (const [where, text] of Object.entries(held)) {
      for (const form of formsOf(secret)) expect(text.includes(form) && `${where} holds ${what}`).toBe(false);
    }
  }
});
