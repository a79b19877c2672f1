import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Home, openHome } from '../../cli/command.ts';
import { type Defect, defects, makeExpressApp } from '../../cli/express-app.ts';
import { Client } from '../../support/client.ts';
import { useService } from '../../support/harness.ts';
import { freshAddress, freshDomain } from '../../support/sign-ins.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';
import { succeeding } from './clients.ts';
import { connectHere, startIn } from './stdio.ts';

const { stage } = await useService();
// Its inbox, which it has without SMTP_URL, has the emails of the visitors that the checks sign in.
const service = await stage.start({ SMTP_URL: '', MAIL_FROM: '' });
const DEFECT = 'checks the state and never verifies the token';
let home: Home;
/** Addresses of an app as the templates write it, and of one with the defect. */
let right: string;
let wrong: string;
const ends: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  home = await openHome(service.url);
  [right, wrong] = await Promise.all([startApp({}), startApp(defects[DEFECT])]);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await home.close();
});

/** Starts an app. @returns its origin */
async function startApp(defect: Defect): Promise<string> {
  const { directory, remove } = await makeExpressApp(defect);
  const url = `http://localhost:${await freePort()}`;
  const env = { ...process.env, PORT: new URL(url).port, SITE_URL: url, EMAILAUTH_URL: service.url, SESSION_SECRET: 'x'.repeat(64) };
  const app = spawn(process.execPath, ['index.js'], { cwd: directory, env, stdio: 'ignore' });
  const exited = once(app, 'exit');
  ends.push(async () => {
    app.kill('SIGKILL');
    await exited;
    await remove();
  });
  await waitUntil('the app responds', 30_000, async () => {
    if (app.exitCode !== null) throw new Error(`The app ended with ${app.exitCode}.`);
    return (await new Client(url).get('/').catch(() => null))?.status === 200;
  });
  return url;
}

type Result = { passed: boolean; checks: { id: string; ok: boolean | null; fix: string | null }[] };

/** Calls check_integration of `emailauth mcp` for an app. */
async function checkApp(url: string, args: string[] = []): Promise<Result & { of(id: string): boolean | null | undefined; text: string }> {
  const client = await connectHere(startIn(home, args));
  ends.push(() => client.close());
  const { response, text } = await succeeding(client, 'check_integration', { domain: 'localhost', url: `${url}/auth/callback` });
  const { passed, checks } = response as Result;
  return { passed, checks, text, of: (id) => checks.find((each) => each.id === id)?.ok };
}

test('signs in at an app on this machine and passes it', async () => {
  const { passed, of } = await checkApp(right);
  expect([passed, of('sign_in'), of('replay'), of('other_website'), of('state_other_browser'), of('logout')]).toEqual(Array(6).fill(true));
});

// `emailauth try` runs the same checks for the other defects: test/cli/try.test.ts.
test(`does not pass an app that ${DEFECT}`, async () => {
  const { passed, of, text } = await checkApp(wrong);
  expect([passed, of('callback_refusal'), of('replay'), of('other_website')]).toEqual([false, false, false, false]);
  for (const id of ['callback_refusal', 'other_website']) expect(text).toMatch(new RegExp(`FAIL ${id}: .*Fix: `));
});

test('signs no one in when the session is read-only, and says what was not checked', async () => {
  const { passed, of, text } = await checkApp(right, ['--read-only']);
  expect([passed, of('callback_refusal'), of('replay'), of('sign_in')]).toEqual([true, true, null, undefined]);
  expect(text).toMatch(/7 UNKNOWN, neither passed nor failed: .*state, other_website, replay, session/);
  const open = await checkApp(wrong, ['--read-only']);
  expect([open.passed, open.of('callback_refusal')]).toEqual([false, false]);
});

test('returns the URL of the inbox where an email is on its way', async () => {
  const client = await connectHere(startIn(home));
  ends.push(() => client.close());
  const inbox = `${service.url}/dev/inbox`;
  const login = await succeeding(client, 'start_login', { email: freshAddress('dev') });
  expect([login.response.inbox, login.text]).toEqual([inbox, expect.stringContaining(`reads it at ${inbox}`)]);
  const registered = await succeeding(client, 'register_domain', { domain: freshDomain(), email: freshAddress('owner') });
  expect(registered.text).toContain(` is at ${inbox};`);
});
