import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { addApplication, signInAt } from '../support/oidc-driver.ts';
import { type Developer, freshAddress, freshDomain, requestEmail, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome, type Running } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

const { stage, service } = await useService();
let home: Home;
let ann: Developer;
beforeAll(async () => {
  home = await openHome(service.url);
  ann = await signInDeveloper(stage, service);
  home.env.EMAILAUTH_TOKEN = ann.client.cookies.get('sid') as string;
});
const running = new Set<Running>();
afterEach(async () => {
  for (const each of running) each.interrupt();
});
afterAll(async () => {
  await home?.close();
});

const added = async (): Promise<string> => (await ann.client.post('/api/websites', { domain: freshDomain() })).json.domain;

/** Runs `emailauth tail` without a terminal. */
function start(...args: string[]) {
  const tail = home.start(['tail', ...args]);
  running.add(tail);
  const { stdout, stderr } = tail;
  return {
    lines: () => stdout().split('\n').filter(Boolean),
    untilErr: (wanted: string) => waitUntil(`stderr has ${wanted}`, 60_000, () => stderr().includes(wanted) || stderr()),
    until: (count: number) => waitUntil(`${count} lines`, 60_000, () => stdout().split('\n').length > count || `${stdout()}\n${stderr()}`),
    async interrupt() {
      tail.interrupt();
      return (await tail.ended).exitCode;
    },
  };
}

describe('without a terminal', () => {
  test('prints events as lines of JSON, those of before and new ones, and ends with 0 at Ctrl-C', async () => {
    const domain = await added();
    await requestEmail(service.client(), freshAddress('before'), `https://${domain}/`);
    await waitUntil('the email is delivered', 60_000, async () => {
      const { json } = await ann.client.get(`/api/websites/events?domain=${domain}`);
      return json.events.length === 2;
    });
    const tail = start(domain, '--json');
    await tail.until(2);
    const token = await visitorToken(stage, service.client(), domain);
    await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);
    await tail.until(6);
    expect(await tail.interrupt()).toBe(0);
    const events = tail.lines().map((line) => JSON.parse(line));
    expect(events.map(({ kind }) => kind).sort()).toEqual([
      ...['mail_accepted', 'mail_accepted', 'opened', 'requested', 'requested'],
      'verified',
    ]);
    expect(events[0]).toMatchObject({ kind: 'requested', domain, email: expect.stringContaining('before'), fix: null });
  });

  test('prints the sign-ins through an application by its name, up to the exchange of the code', async () => {
    const application = await addApplication(ann);
    const tail = start(application.clientId, '--json');
    await signInAt(stage, service, application);
    await tail.until(4);
    expect(await tail.interrupt()).toBe(0);
    const events = tail.lines().map((line) => JSON.parse(line));
    expect(events.map(({ kind }) => kind).sort()).toEqual(['exchanged', 'mail_accepted', 'opened', 'requested']);
    expect(events[0]).toMatchObject({ domain: application.clientId, name: 'Notes' });
  });

  test('continues without a loss or a repetition when the service restarts', async () => {
    const instance = await stage.start();
    const domain = await added();
    const tail = start(domain, '--json', '--since', '1h', '--host', instance.url);
    await tail.untilErr('Nothing happened in the last 1h.');
    await requestEmail(service.client(), freshAddress(), `https://${domain}/`);
    await tail.until(2);
    expect(await instance.stop()).toBe(0);
    await tail.untilErr('cannot be reached');
    await requestEmail(service.client(), freshAddress(), `https://${domain}/`);
    await stage.start({ PORT: String(instance.port) });
    await tail.until(4);
    await tail.untilErr('The service is back.');
    await requestEmail(service.client(), freshAddress(), `https://${domain}/`);
    await tail.until(6);
    expect(await tail.interrupt()).toBe(0);
    const ids = tail.lines().map((line) => JSON.parse(line).id);
    expect(new Set(ids).size).toBe(6);
    const { json } = await ann.client.get(`/api/websites/events?domain=${domain}`);
    expect(json.events.map(({ id }: { id: string }) => id).sort()).toEqual([...ids].sort());
  });

  test('exits with 5 for a domain of no or another account, and with 3 for a time that it does not know', async () => {
    const foreign = await home.run(['tail', 'foreign.example', '--json']);
    expect([foreign.exitCode, foreign.json().error]).toEqual([
      5,
      expect.objectContaining({ code: 'website_not_found', hint: expect.stringContaining('emailauth sites add foreign.example') }),
    ]);
    for (const since of ['8d', 'yesterday', '-1m']) expect((await home.run(['tail', `--since=${since}`])).exitCode).toBe(3);
  });
});

test.each([80, 40])('shows each step with its fix in a terminal of %d columns, without breaking words', async (columns) => {
  const domain = await added();
  const terminal = openTerminal(home, ['tail', domain], { columns });
  await terminal.waitFor(/Waiting\s+for\s+the\s+next/);
  const email = freshAddress();
  const token = await visitorToken(stage, service.client(), domain, email);
  for (let i = 0; i < 2; i++) await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`);
  await terminal.waitFor(/Idempotency-Key\./);
  const text = terminal.text();
  expect(text.replaceAll(/\s+/g, ' ')).toContain('! The token was rejected: it had been used up before.');
  expect(text.replaceAll(/\s+/g, ' ')).toContain('Fix: Verify each token once: open your own session in the callback, then redirect');
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(columns);
  for (const word of ['session', 'callback', 'redirect', 'Idempotency-Key.']) expect(text).toMatch(new RegExp(`(^|\\s)${word}`, 'm'));
  terminal.type(KEYS.interrupt);
  expect(await terminal.exited).toBe(0);
});
