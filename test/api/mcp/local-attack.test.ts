import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Home, openHome } from '../../cli/command.ts';
import { type Defect, defects, makeExpressApp } from '../../cli/express-app.ts';
import { Client } from '../../support/client.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';
import { type McpClient, succeeding } from './clients.ts';
import { startIn, stdioGenerations } from './stdio.ts';

let stage: Stage;
let service: Service;
let home: Home;
const clients: McpClient[] = [];
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start({ SMTP_URL: '', MAIL_FROM: '' });
  home = await openHome(service.url);
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await home.close();
  await stage.close();
});

type Result = { passed: boolean; checks: { id: string; ok: boolean | null; fix: string | null }[] };

/** Runs an app and calls check_integration of `emailauth mcp`. */
async function checkApp(
  defect: Defect,
  args: string[] = [],
): Promise<Result & { of(id: string): boolean | null | undefined; text: string }> {
  const { directory, remove } = await makeExpressApp(defect);
  const url = `http://localhost:${await freePort()}`;
  const env = { ...process.env, PORT: new URL(url).port, SITE_URL: url, EMAILAUTH_URL: service.url, SESSION_SECRET: 'x'.repeat(64) };
  const app = spawn(process.execPath, ['index.js'], { cwd: directory, env, stdio: 'ignore' });
  const exited = once(app, 'exit');
  onTestFinished(async () => {
    app.kill('SIGKILL');
    await exited;
    await remove();
  });
  await waitUntil('the app responds', 30_000, async () => {
    if (app.exitCode !== null) throw new Error(`The app ended with ${app.exitCode}.`);
    return (await new Client(url).get('/').catch(() => null))?.status === 200;
  });
  const client = await stdioGenerations['client 2.x'](startIn(home, args));
  clients.push(client);
  const { response, text } = await succeeding(client, 'check_integration', { domain: 'localhost', url: `${url}/auth/callback` });
  const { passed, checks } = response as Result;
  return { passed, checks, text, of: (id) => checks.find((each) => each.id === id)?.ok };
}

test('signs in at an app on this machine and passes it', async () => {
  const { passed, of } = await checkApp({});
  expect([passed, of('sign_in'), of('replay'), of('other_website'), of('state_other_browser'), of('logout')]).toEqual(Array(6).fill(true));
});

test.each<[keyof typeof defects, string]>([
  ['checks the state and never verifies the token', 'callback_refusal'],
  ['verifies the token without domain', 'other_website'],
  ['does not compare the state', 'state_other_browser'],
])('does not pass an app that %s', async (name, id) => {
  const { passed, of, text } = await checkApp(defects[name]);
  expect([passed, of(id)]).toEqual([false, false]);
  expect(text).toMatch(new RegExp(`FAIL ${id}: .*Fix: `));
});

test('signs no one in when the session is read-only, and says what was not checked', async () => {
  const { passed, of, text } = await checkApp({}, ['--read-only']);
  expect([passed, of('callback_refusal'), of('replay'), of('sign_in')]).toEqual([true, true, null, undefined]);
  expect(text).toMatch(/7 UNKNOWN, neither passed nor failed: .*state, other_website, replay, session/);
  const open = await checkApp(defects['checks the state and never verifies the token'], ['--read-only']);
  expect([open.passed, open.of('callback_refusal')]).toEqual([false, false]);
});
