import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { SecretKeys } from '../../server/platform/secrets.ts';
import { AttemptSecrets } from '../../server/signin/attempts.ts';
import { CodeTries } from '../../server/signin/methods/code-tries.ts';
import { SignInLinks } from '../../server/signin/methods/link.ts';
import { AttemptOpener } from '../../server/signin/opener.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { freshBytes, insert, toWebsite, useDatabase } from './database.ts';

const database = await useDatabase();
const { core } = database;
const secrets = new AttemptSecrets(new SecretKeys(freshBytes()));
const opener = new AttemptOpener({ core, secrets, publicUrl: 'https://auth.example' });
const tries = new CodeTries(core, 1);

type Row = Record<string, unknown>;

/** Adds an attempt of a visitor to a registered website. @param changes columns of the attempt */
async function attempt(changes: Row = {}, website: Row = {}) {
  const domain = freshDomain();
  const row = {
    id: uuid(),
    kind: 'site',
    email: freshAddress(),
    language: 'en',
    browser: freshBytes(),
    domain,
    audience: domain,
    destination: toWebsite(domain),
    expires_at: "sql:now() + interval '599 seconds'",
    ...changes,
  };
  await insert(database, 'websites', { id: uuid(), domain, domain_since: "sql:now() - interval '1 day'", ...website });
  await insert(database, 'sign_in_attempts', row);
  const device = freshBytes().toString('base64url');
  const browser = { device, userAgent: '', clientAddress: '192.0.2.1', attempt: '', session: undefined };
  return {
    ...row,
    visitor: browser,
    open: (by = row.browser) => opener.open({ kind: 'site', id: row.id }, browser, { browser: by, email: null, method: 'link' }),
  };
}

test('an attempt is opened once, and again by the device that opened it', async () => {
  const { email, domain, open } = await attempt();
  const opened = await open();
  expect(opened).toMatchObject({ email, redirectUrl: expect.stringContaining(`https://${domain}/?token=`) });
  expect(await open()).toEqual(opened);
});

test.each<[string, Row, Row?]>([
  ['that has expired', { expires_at: "sql:now() - interval '1 second'" }],
  ['that was consumed', { consumed_at: 'sql:now()' }],
  ['of a program', { kind: 'app' }],
  ['of a website that has had its domain for a shorter time', {}, { domain_since: 'sql:now()' }],
])('an attempt %s is not opened', async (_, changes, website) => {
  const { email, open } = await attempt(changes, website);
  expect(await open()).toBeNull();
  expect((await core.query('select from tokens where email = $1', [email])).rowCount).toBe(0);
});

test('an attempt of another browser is not opened', async () => {
  const { open } = await attempt();
  expect(await open(freshBytes())).toBeNull();
  expect(await open()).not.toBeNull();
});

test('an attempt is not opened again by a device that was signed out', async () => {
  const { email, open } = await attempt();
  await open();
  await core.query("update remembered_keys set verifier = '' where email = $1", [email]);
  expect(await open()).toBeNull();
});

test.each<[string, Row]>([
  ['was claimed since', { claimed_at: 'sql:now()' }],
  ['has another linked address', { email: 'someone@mail.example' }],
])('the link of a registration is not opened where the website %s', async (_, changes) => {
  const [domain, email] = [freshDomain(), freshAddress()];
  const of = { kind: 'registration', email, domain: null, audience: domain, expires_at: "sql:now() + interval '6 days'" };
  await insert(database, 'websites', { id: uuid(), domain, email, domain_since: "sql:now() - interval '1 day'", ...changes });
  expect(await (await attempt(of)).open()).toBeNull();
  await core.query('update websites set claimed_at = null, email = $2 where domain = $1', [domain, email]);
  expect(await (await attempt(of)).open()).toMatchObject({ email });
});

test('a code is compared with open attempts that have tries left', async () => {
  const browser = freshBytes();
  const email = freshAddress();
  const open = await attempt({ browser, email });
  await attempt({ browser, email, expires_at: 'sql:now()' });
  await attempt({ browser, email, code_tries: 5 });
  await attempt({ browser });
  await attempt({ email });
  const candidates = await tries.candidates({ browser }, { email, state: null }, freshBytes());
  expect(candidates.map(({ id }) => id)).toEqual([open.id]);
});

test('a code is not accepted for an attempt that has expired since it was compared', async () => {
  const { id, email, browser } = await attempt();
  const candidates = await tries.candidates({ browser }, { email, state: null }, freshBytes());
  await core.query('update sign_in_attempts set expires_at = now() where id = $1', [id]);
  const given = { candidates, match: id, mailbox: email, network: `network of ${id}`, device: freshBytes() };
  expect((await tries.judge(given)).tried).toEqual([]);
});

test('a link that makes its browser known leaves the account that the browser remembers as it is', async () => {
  const { id, email, visitor, open } = await attempt();
  await open();
  const keys = () => core.query('select device, selector, verifier from remembered_keys where email = $1', [email]);
  const before = (await keys()).rows;
  const links = new SignInLinks({ core, secrets, opener, events: { record: async () => {} } });
  const t = secrets.link('site', id);
  await links.confirmBrowser({ t, email }, visitor);
  expect((await keys()).rows).toEqual(before);
  await links.confirmBrowser({ t, email }, { ...visitor, device: freshBytes().toString('base64url') });
  const added = (await keys()).rows.filter(({ device }) => !before.some((known) => known.device.equals(device)));
  expect(added).toMatchObject([{ verifier: Buffer.alloc(0) }]);
});
