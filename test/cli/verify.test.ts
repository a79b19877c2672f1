import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStage, production, type Service, type Stage } from '../support/harness.ts';
import { addWebsite, type Developer, freshAddress, freshDomain, signInDeveloper, visitorToken } from '../support/sign-ins.ts';
import { freePort } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

let stage: Stage;
let service: Service;
let home: Home;
let ann: Developer;
let domain: string;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
  home = await openHome(service.url);
  ann = await signInDeveloper(stage, service);
  domain = freshDomain();
  await ann.client.post('/api/websites', { domain });
});
afterAll(async () => {
  await home?.close();
  await stage.close();
});

const visitor = freshAddress('visitor');
const freshToken = (of = domain) => visitorToken(stage, service.client(), of, visitor);
/** Returns whether a token is still valid, and uses it up. */
const isGood = async (token: string, of = domain) =>
  (await service.client().get(`/api/verify-token?token=${token}&domain=${of}`)).json.valid;
const keyOf = async (environment: 'live' | 'test'): Promise<string> =>
  (await ann.client.post('/api/api-keys', { name: 'a key', environment })).json.key;

test('accepts a token as an argument once with 0, then exits with 10 and the reason', async () => {
  const token = await freshToken();
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

test('exits with 10 for a token of another website, which stays valid', async () => {
  const other = await addWebsite(stage, service);
  const token = await freshToken(other);
  const ran = await home.run(['verify', '--domain', domain, '-'], { input: token });
  expect([ran.exitCode, ran.stdout]).toEqual([10, 'Not valid. It is for another website, which can still verify it.']);
  expect(await isGood(token, other)).toBe(true);
});

test('exits with 10 for an expired and an unknown token', async () => {
  const token = await freshToken();
  await stage.query("update tokens set expires_at = now() - interval '1 second'");
  const expired = await home.run(['verify', '-'], { input: token });
  expect([expired.exitCode, expired.stdout]).toEqual([10, expect.stringContaining('expired')]);
  const unknown = await home.run(['verify', '-', '--json'], { input: 'nothing-of-ours' });
  expect([unknown.exitCode, unknown.json()]).toEqual([10, { email: null, valid: false, reason: 'unknown' }]);
});

test('accepts an API key of the website’s owner; another key does not use up the token', async () => {
  const key = await keyOf('live');
  const own = await freshToken();
  const ran = await home.run(['verify', '-', '--json'], { input: own, env: { EMAILAUTH_TOKEN: key } });
  expect([ran.exitCode, ran.json().domain]).toEqual([0, domain]);
  const other = await addWebsite(stage, service);
  const foreign = await freshToken(other);
  const refused = await home.run(['verify', '-', '--json'], { input: foreign, env: { EMAILAUTH_TOKEN: key } });
  expect([refused.exitCode, refused.json().reason]).toEqual([10, 'other_domain']);
  expect(await isGood(foreign, other)).toBe(true);
});

test('exits with 4 for a test key and an invalid key, without using up the token', async () => {
  const token = await freshToken();
  const byTestKey = await home.run(['verify', '-', '--json'], { input: token, env: { EMAILAUTH_TOKEN: await keyOf('test') } });
  expect([byTestKey.exitCode, byTestKey.json().error.code]).toEqual([4, 'test_key']);
  expect(byTestKey.json().error.message).toContain('test key');
  const byNone = await home.run(['verify', '-'], { input: token, env: { EMAILAUTH_TOKEN: `ea_live_${'a'.repeat(43)}` } });
  expect([byNone.exitCode, byNone.stderr]).toEqual([4, expect.stringContaining('does not accept EMAILAUTH_TOKEN')]);
  expect(await isGood(token)).toBe(true);
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

test('exits with 7 after too many invalid tokens', async () => {
  const strict = await stage.start({ ...production });
  const client = strict.client();
  for (let count = 0; count < 60; count++) await client.get('/api/verify-token?token=wrong');
  const ran = await home.run(['verify', '-', '--host', strict.url], { input: 'wrong' });
  expect([ran.exitCode, ran.stderr]).toEqual([7, expect.stringMatching(/Try again in \d+ second/)]);
  await strict.stop();
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

test('exits with 2 on Ctrl-C at the prompt', async () => {
  const terminal = openTerminal(home, ['verify']);
  await terminal.waitFor('Token');
  terminal.type(KEYS.interrupt);
  expect(await terminal.exited).toBe(2);
  await terminal.close();
});
