import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { type Developer, freshDomain, registerWebsite, signInDeveloper } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

const { stage, service, names } = await useService();
let home: Home;
let ann: Developer;
let bob: Developer;
beforeAll(async () => {
  home = await openHome(service.url);
  [ann, bob] = [await signInDeveloper(stage, service), await signInDeveloper(stage, service)];
  home.env.EMAILAUTH_TOKEN = ann.client.cookies.get('sid') as string;
});
afterAll(async () => {
  await home?.close();
});

const domainsOf = async ({ client }: Developer) =>
  ((await client.get('/api/websites')).json as { domain: string }[]).map((site) => site.domain);
const added = async (owner: Developer): Promise<string> =>
  (await owner.client.post('/api/websites', { domain: freshDomain() })).json.domain;

test('prints the record and the file; exits with 10 until the record is found', async () => {
  const domain = await added(ann);
  const early = await home.run(['sites', 'verify', domain, '--json']);
  expect([early.exitCode, Object.keys(early.json())]).toEqual([10, ['domain', 'verified', 'proof']]);
  const { proof } = early.json();
  expect(early.json()).toMatchObject({ domain, verified: false, proof: { record: `_emailauth.${domain}` } });
  expect(JSON.parse(proof.fileBody)).toEqual({ emailauth: proof.value });
  expect(proof.fileUrl).toBe(`https://${domain}/.well-known/emailauth.json`);

  const inWords = await home.run(['sites', 'verify', domain]);
  expect(inWords.exitCode).toBe(10);
  // Each is alone at the end of its line, to be easy to copy.
  const ends = inWords.stdout.split('\n').map((line) => line.split(/ {2,}/).at(-1));
  expect(ends).toEqual(expect.arrayContaining([proof.record, 'TXT', proof.value, proof.fileUrl, proof.fileBody]));

  names.setText(proof.record, [proof.value]);
  const found = await home.run(['sites', 'verify', domain.toUpperCase(), '--json']);
  expect([found.exitCode, found.json()]).toEqual([0, { domain, verified: true, proof }]);
  // It stays verified when the record is removed.
  names.setText(proof.record, []);
  const later = await home.run(['sites', 'verify', domain]);
  expect([later.exitCode, later.stdout]).toEqual([0, `${domain} is verified already.`]);
});

test('takes over a domain from an address that has not verified it', async () => {
  const domain = await added(bob);
  const early = await home.run(['sites', 'verify', domain, '--json']);
  expect(early.exitCode).toBe(10);
  expect(await domainsOf(bob)).toContain(domain);
  names.setText(early.json().proof.record, [early.json().proof.value]);
  const found = await home.run(['sites', 'verify', domain]);
  expect([found.exitCode, found.stdout]).toEqual([0, `${domain} is verified, and one of your websites.`]);
  expect(await domainsOf(ann)).toContain(domain);
  expect(await domainsOf(bob)).not.toContain(domain);
  // The commands of the previous account report the loss.
  const env = { EMAILAUTH_TOKEN: bob.client.cookies.get('sid') as string };
  expect((await home.run(['sites', 'get', domain], { env })).exitCode).toBe(5);
});

test('rejects the proof of another address, and a domain that is already verified', async () => {
  const domain = await added(bob);
  const { proof } = (await bob.client.get(`/api/websites/claim/${domain}`)).json;
  names.setText(proof.record, [proof.value]);
  expect((await home.run(['sites', 'verify', domain])).exitCode).toBe(10);
  await bob.client.post('/api/websites/prove', { domain });
  const ran = await home.run(['sites', 'verify', domain]);
  expect([ran.exitCode, ran.stdout]).toEqual([10, expect.stringContaining('Only the DNS record can take it over')]);
});

test('checks again by Enter in a terminal until the record is found', async () => {
  const domain = await registerWebsite(service.client());
  const { proof } = (await ann.client.get(`/api/websites/claim/${domain}`)).json;
  const terminal = openTerminal(home, ['sites', 'verify', domain]);
  await terminal.waitFor('Check again');
  for (const text of [`${domain} is not one of your websites`, proof.record, proof.value, proof.fileUrl, 'usually takes minutes']) {
    await terminal.waitFor(text);
  }
  const before = names.queries.filter((name) => name === proof.record).length;
  terminal.type(KEYS.enter);
  await terminal.waitFor(/Check again[\s\S]*Check again/);
  expect(names.queries.filter((name) => name === proof.record).length).toBeGreaterThan(before);
  names.setText(proof.record, [proof.value]);
  terminal.type(KEYS.enter);
  await terminal.waitFor(`${domain} is verified`);
  expect(await terminal.exited).toBe(0);
  expect(await domainsOf(ann)).toContain(domain);
  await terminal.close();
});

test('exits in a terminal with 10 for later and with 2 on Ctrl-C', async () => {
  const domain = await added(ann);
  for (const [keys, code] of [
    [KEYS.down + KEYS.enter, 10],
    [KEYS.interrupt, 2],
  ] as const) {
    const terminal = openTerminal(home, ['sites', 'verify', domain]);
    await terminal.waitFor('Later');
    terminal.type(keys);
    expect(await terminal.exited).toBe(code);
    await terminal.close();
  }
});

test('exits with 3 for an invalid domain', async () => {
  const ran = await home.run(['sites', 'verify', 'app.shop.example', '--json']);
  expect([ran.exitCode, ran.json().error.message]).toEqual([3, 'Give the root domain only: shop.example']);
});
