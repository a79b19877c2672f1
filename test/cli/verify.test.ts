import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { freePort } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

// What makes a token valid is tested in test/api/verify.test.ts.

const { stage, service } = await useService();
let home: Home;
let ann: Developer;
let domain: string;
beforeAll(async () => {
  home = await openHome(service.url);
  ann = await signInDeveloper(stage, service);
  domain = freshDomain();
  await ann.client.post('/api/websites', { domain });
});
afterAll(async () => {
  await home?.close();
});

const visitor = freshAddress('visitor');
const freshToken = () => visitorToken(stage, service.client(), domain, visitor);
/** Returns whether a token is still valid, and uses it up. */
const isGood = async (token: string) => (await service.client().get(`/api/verify-token?token=${token}&domain=${domain}`)).json.valid;
const keyOf = async (environment: 'live' | 'test'): Promise<string> =>
  (await ann.client.post('/api/api-keys', { name: 'a key', environment })).json.key;

test('accepts a token as an argument once with 0, then exits with 10 and the reason', async () => {
  const token = await freshToken();
  const elsewhere = await home.run(['verify', '--domain', freshDomain(), '--', token]);
  expect([elsewhere.exitCode, elsewhere.stdout]).toEqual([10, 'Not valid. It is for another website, which can still verify it.']);
  const first = await home.run(['verify', '--json', '--domain', domain, '--', token]);
  expect([first.exitCode, first.json()]).toEqual([0, { email: visitor, valid: true, domain, method: 'link', at: expect.any(String) }]);
  expect(first.stderr).toContain('used up');
  const second = await home.run(['verify', '--json', '--', token]);
  expect([second.exitCode, second.json()]).toEqual([10, { email: null, valid: false, reason: 'used' }]);
  const inWords = await home.run(['verify', '--', token]);
  expect([inWords.exitCode, inWords.stdout]).toEqual([10, 'Not valid. It was already verified, and a token can only be used once.']);
});

test('reads a token from stdin and prints text', async () => {
  const token = await freshToken();
  const ran = await home.run(['verify', '-', '--quiet'], { input: `${token}\n` });
  expect([ran.exitCode, ran.stdout, ran.stderr]).toEqual([
    0,
    expect.stringMatching(`^${visitor} signed in at ${domain} by the link of an email.\nThe address was proven at 2[^\n]+Z.$`),
    '',
  ]);
  expect(await isGood(token)).toBe(false);
});

test('sends the API key, and exits with 4 for one that the service does not accept here', async () => {
  const token = await freshToken();
  const byTestKey = await home.run(['verify', '-', '--json'], { input: token, env: { EMAILAUTH_TOKEN: await keyOf('test') } });
  expect([byTestKey.exitCode, byTestKey.json().error.code]).toEqual([4, 'test_key']);
  expect(byTestKey.json().error.message).toContain('test key');
  const byNone = await home.run(['verify', '-'], { input: token, env: { EMAILAUTH_TOKEN: `ea_live_${'a'.repeat(43)}` } });
  expect([byNone.exitCode, byNone.stderr]).toEqual([4, expect.stringContaining('does not accept EMAILAUTH_TOKEN')]);
  const byOwn = await home.run(['verify', '-', '--json'], { input: token, env: { EMAILAUTH_TOKEN: await keyOf('live') } });
  expect([byOwn.exitCode, byOwn.json().domain]).toEqual([0, domain]);
});

test('exits with 3 without a token: closed stdin, empty stdin, or no prompt possible', async () => {
  for (const [args, options] of [
    [['verify'], {}],
    [['verify', '-'], {}],
    [['verify', '-'], { input: ' \n' }],
    [['verify', ''], {}],
  ] as [string[], object][]) {
    const ran = await home.run([...args, '--json'], options);
    expect([args, ran.exitCode, Object.keys(ran.json())]).toEqual([args, 3, ['error']]);
  }
});

test('exits with 8 without a service and does not print the token', async () => {
  const token = 'a-token-that-nobody-sees';
  const ran = await home.run(['verify', '-', '--verbose', '--host', `http://localhost:${await freePort()}`], { input: token });
  expect(ran.exitCode).toBe(8);
  expect(ran.stdout + ran.stderr).not.toContain(token);
});

test('prompts in a terminal without showing the token, and warns that this uses it up', async () => {
  const token = await freshToken();
  for (const args of [['verify'], ['verify', '-']]) {
    const terminal = openTerminal(home, args);
    await terminal.waitFor('this uses it up');
    terminal.type(`${token}${KEYS.enter}`);
    await terminal.waitFor(args.length === 1 ? `${visitor} signed in at ${domain}` : 'Not valid');
    expect(await terminal.exited).toBe(args.length === 1 ? 0 : 10);
    expect(terminal.bytes()).not.toContain(token);
    await terminal.close();
  }
});
