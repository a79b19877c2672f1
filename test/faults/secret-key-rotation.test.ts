// A stage of its own: its instances have keys of their own.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ProviderKeys } from '../../server/oidc/keys.ts';
import { onMigrationConnection } from '../../server/platform/db/migrate.ts';
import { checkSecretKey } from '../../server/platform/db/secret-key.ts';
import { SecretKeys } from '../../server/platform/secrets.ts';
import { type Home, openHome } from '../cli/command.ts';
import { openAuthenticator } from '../support/authenticator.ts';
import type { Client } from '../support/client.ts';
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { png } from '../support/images.ts';
import {
  addWebsite,
  authorize,
  codeOf,
  confirmLink,
  exchange,
  freshAddress,
  openLink,
  requestEmail,
  signInDeveloper,
  tokenOf,
} from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';

const OLD = randomBytes(32).toString('hex');
const NEW = randomBytes(32).toString('hex');
const ROTATING = { SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD };

let stage: Stage;
let home: Home;
beforeAll(async () => {
  stage = await openStage();
  home = await openHome('http://localhost:1');
});
afterEach(() => stage.query('delete from installation'));
afterAll(async () => {
  await stage.close();
  await home.close();
});

const start = (settings: Record<string, string>) => stage.start({ ...production, ...settings });
const password = { password: production.ADMIN_PASSWORD };

/** Returns the same browser at another instance. */
function at(service: Service, { cookies }: Client): Client {
  const client = service.client();
  client.cookies = cookies;
  return client;
}

/** Reads the keys of the provider with a SECRET_KEY. */
async function keysWith(secretKey: string): Promise<{ kids: string[]; salt: string; warnings: number }> {
  const pool = new pg.Pool({ connectionString: stage.databaseUrl });
  let warnings = 0;
  const log = { warn: () => void warnings++, info: () => {} };
  try {
    const keys = new ProviderKeys({ core: pool, secretKeys: new SecretKeys(Buffer.from(secretKey)), log });
    return { salt: (await keys.salt()).toString('hex'), kids: (await keys.signingKeys()).map(({ kid }) => kid), warnings };
  } finally {
    await pool.end();
  }
}

test('SECRET_KEY is replaced instance by instance, and every link, code, cookie and key of before stays valid', {
  timeout: 240_000,
}, async () => {
  const before = await start({ SECRET_KEY: OLD });
  const shop = await addWebsite(stage, before);
  const { kids, salt } = await keysWith(OLD);

  // Made with the former key.
  const [visitor, stranger, typist] = [before.client(), before.client(), before.client()];
  const [email, other, third] = [freshAddress(), freshAddress(), freshAddress()];
  await requestEmail(visitor, email, `https://${shop}/`);
  await requestEmail(stranger, other, `https://${shop}/`);
  await requestEmail(typist, third, `https://${shop}/`);
  const mails = await Promise.all([email, other, third].map((address) => stage.mailbox.waitFor(address)));
  const admin = before.client();
  expect((await admin.post('/api/admin/verify', password)).status).toBe(200);
  const developer = await signInDeveloper(stage, before);
  const { uploadURL } = (await developer.client.post('/api/objects/upload')).json;

  // Both keys are in use: what either instance makes is valid at the other one.
  const during = await start({ ...ROTATING, PUBLIC_URL: before.url });
  await waitUntil('the instance waits for the former one', 20_000, () => during.output().includes('SECRET_KEY_PREVIOUS as their only key'));
  const crossing = freshAddress();
  const browser = during.client();
  await requestEmail(browser, crossing, `https://${shop}/`);
  expect(tokenOf(await openLink(at(before, browser), await stage.mailbox.waitFor(crossing)))).toMatch(/./);
  // An instance of before may still restart.
  await (await start({ SECRET_KEY: OLD, PUBLIC_URL: before.url })).stop();

  await before.stop();
  await waitUntil('the key is replaced', 60_000, () => during.output().includes('SECRET_KEY has replaced SECRET_KEY_PREVIOUS'));
  expect(tokenOf(await openLink(at(during, visitor), mails[0]))).toMatch(/./);
  expect((await confirmLink(during.client(), mails[1], other)).status).toBe(200);
  expect((await at(during, typist).post('/api/auth/email-code', { email: third, code: mails[2].code })).status).toBe(200);
  expect((await at(during, admin).get('/api/admin/session')).json.unlocked).toBe(true);
  const body = await png(64, 64);
  const sent = await at(during, developer.client).send(uploadURL, { method: 'PUT', body, headers: { 'Content-Type': 'image/png' } });
  expect(sent.status).toBe(200);

  // The new key is enough for everything that is made from then on.
  const last = freshAddress();
  const lastBrowser = during.client();
  await requestEmail(lastBrowser, last, `https://${shop}/`);
  const after = await start({ SECRET_KEY: NEW, PUBLIC_URL: before.url });
  expect(tokenOf(await openLink(at(after, lastBrowser), await stage.mailbox.waitFor(last)))).toMatch(/./);
  expect(await keysWith(NEW)).toEqual({ kids, salt, warnings: 0 });
  await expect(start({ SECRET_KEY: OLD })).rejects.toThrow(/differs.*SECRET_KEY_PREVIOUS/s);
  await Promise.all([during.stop(), after.stop()]);
});

test('a sign-in to the portal that began with the former key is completed with the new one', async () => {
  const before = await start({ SECRET_KEY: OLD });
  const client = before.client();
  const begun = await authorize(client);
  const mail = await stage.mailbox.waitFor(begun.email);
  await before.stop();
  const after = await start({ ...ROTATING, PUBLIC_URL: before.url, WORKERS: '2' });
  await waitUntil(
    'the key is replaced',
    60_000,
    () => after.output().includes('SECRET_KEY has replaced SECRET_KEY_PREVIOUS') || after.output(),
  );
  expect((await exchange(at(after, client), codeOf(mail), begun.pkce.codeVerifier)).status).toBe(200);
  await after.stop();
});

test('passkeys, and challenges of before, stay valid while SECRET_KEY is replaced and afterwards', async () => {
  const before = await start({ SECRET_KEY: OLD });
  const shop = await addWebsite(stage, before);
  const forward_url = `https://${shop}/`;
  const authenticator = openAuthenticator({ origin: before.url });
  const challengeFor = async (client: Client) => (await client.post('/api/auth/passkey/challenge')).json.challenge;
  const signIn = async (client: Client, challenge: string) =>
    (await client.post('/api/auth/passkey', { credential: authenticator.get(challenge), forward_url })).status;

  // The options and the challenge are made with the former key, and used with the new one.
  const [browser, waiting, email] = [before.client(), before.client(), freshAddress()];
  await browser.post('/api/auth/domain-auth', { email, forward_url, require: 'passkey' });
  const page = await browser.get((await stage.mailbox.waitFor(email)).link);
  const { options } = JSON.parse(/id="boot">(.*?)<\/script>/s.exec(page.text)?.[1] ?? '{}').addPasskey;
  const challenge = await challengeFor(waiting);
  await before.stop();
  const during = await start({ ...ROTATING, PUBLIC_URL: before.url });
  const credential = authenticator.create(options);
  // The first use of passkeys loads their packages, which on a busy machine may take longer than a request may: the client would send a
  // challenge again that was used.
  const foreign = openAuthenticator({ origin: 'https://evil.example' }).create(options);
  const refuses = async (service: Service) =>
    expect((await at(service, browser).post('/api/auth/passkey/registration', { credential: foreign, forward_url })).status).toBe(401);
  await refuses(during);
  const registered = at(during, browser);
  const created = await registered.post('/api/auth/passkey/registration', { credential, forward_url });
  expect([created.status, created.text]).toEqual([200, expect.anything()]);
  expect(tokenOf(created.json.redirectUrl)).toMatch(/./);
  expect(await signIn(at(during, waiting), challenge)).toBe(200);
  const last = await challengeFor(at(during, browser));
  await waitUntil('the key is replaced', 60_000, () => during.output().includes('SECRET_KEY has replaced SECRET_KEY_PREVIOUS'));
  await during.stop();

  const after = await start({ SECRET_KEY: NEW, PUBLIC_URL: before.url });
  await refuses(after);
  expect(await signIn(at(after, browser), last)).toBe(200);
  expect(await signIn(at(after, waiting), await challengeFor(at(after, waiting)))).toBe(200);
  await after.stop();
});

test('`db rotate-signing-keys` publishes new keys, revokes the former ones on request, and refuses another SECRET_KEY', async () => {
  await onMigrationConnection(stage.databaseUrl, (client) => checkSecretKey(client, Buffer.from(NEW), null));
  await stage.query('delete from oidc_keys');
  const [ec] = (await keysWith(NEW)).kids;
  const run = (args: string[], SECRET_KEY: string) =>
    home.spawn(['db', 'rotate-signing-keys', '--json', ...args], {
      env: { DATABASE_URL: stage.databaseUrl, DATA_DIR: stage.dataDir, SECRET_KEY },
    });
  expect((await run([], NEW)).json()).toEqual({ rotated: true, revoked: false });
  const overlapping = (await keysWith(NEW)).kids;
  expect([overlapping.length, overlapping[0]]).toEqual([4, ec]);
  expect((await run(['--revoke'], NEW)).json().error.hint).toContain('--yes');
  expect((await run(['--revoke', '--yes'], NEW)).json()).toEqual({ rotated: true, revoked: true });
  const { kids } = await keysWith(NEW);
  expect(kids).toHaveLength(2);
  expect(kids.filter((kid) => overlapping.includes(kid))).toEqual([]);

  const wrong = await run(['--revoke', '--yes'], 'x'.repeat(40));
  expect([wrong.exitCode, wrong.json().error.code]).toEqual([6, 'other_secret_key']);
  const missing = await run([], '');
  expect([missing.exitCode, missing.json().error.message]).toEqual([3, expect.stringContaining('SECRET_KEY is missing')]);
  expect((await keysWith(NEW)).kids).toEqual(kids);
});

test('a backup contains the salt alone, so that a restore with the same SECRET_KEY keeps every sub', async () => {
  const before = await keysWith(NEW);
  const env = { DATABASE_URL: stage.databaseUrl, DATA_DIR: stage.dataDir };
  const file = join(home.directory, 'backup.tar');
  expect((await home.spawn(['backup', file], { env })).exitCode).toBe(0);
  await stage.query('delete from oidc_keys');
  expect((await home.spawn(['restore', '--yes', file], { env })).exitCode).toBe(0);
  expect(await stage.query('select kid, algorithm from oidc_keys')).toEqual([{ kid: 'salt', algorithm: null }]);
  const after = await keysWith(NEW);
  expect([after.salt, after.warnings]).toEqual([before.salt, 0]);
  expect(after.kids.filter((kid) => before.kids.includes(kid))).toEqual([]);
});
