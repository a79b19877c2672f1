import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { freshAddress, freshDomain, registerWebsite, visitorToken } from '../support/sign-ins.ts';
import { freePort } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { KEYS, openTerminal } from './terminal.ts';

const { stage, service } = await useService();
let home: Home;
beforeAll(async () => {
  home = await openHome(service.url);
});
afterAll(async () => {
  await home?.close();
});

const ownerOf = async (domain: string) => (await stage.query('select email from websites where domain = $1', [domain]))[0]?.email;

test('registers a domain, active immediately, and prints the next steps', async () => {
  const [domain, email] = [freshDomain(), freshAddress('owner')];
  const ran = await home.run(['register', domain, '--email', email, '--json']);
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining(email)]);
  expect(ran.stderr).toContain(`${service.url}/dashboard/websites/${domain}`);
  const output = ran.json();
  expect(Object.keys(output)).toEqual(['domain', 'email', 'status', 'authUrl', 'nextSteps']);
  expect(output).toMatchObject({ domain, email, status: 'active', authUrl: `${service.url}/auth` });
  expect(output.nextSteps).toHaveLength(4);
  const [link, verify, session, quick] = output.nextSteps;
  expect(link).toContain(`${service.url}/auth?forward_url=${encodeURIComponent(`https://${domain}/auth/callback?state=STATE`)}`);
  expect(verify).toContain(`curl '${service.url}/api/verify-token?token=TOKEN&domain=${domain}'`);
  expect(session).toContain('session');
  expect(quick).toContain(`emailauth init --domain ${domain}`);
  expect(await ownerOf(domain)).toBe(email);
  await stage.mailbox.waitFor(email);

  // The printed steps work: the page accepts the URL, and the verification returns.
  const token = await visitorToken(stage, service.client(), domain);
  const page = await service.client().get(link.split('\n')[1].replace(service.url, ''));
  expect([page.status, page.text.includes(domain)]).toEqual([200, true]);
  const url = /'(.+)'/.exec(verify)?.[1].replace('TOKEN', token).replace(service.url, '') as string;
  expect((await service.client().get(url)).json).toMatchObject({ valid: true, domain });
});

test('prints text without --json, and less with --quiet', async () => {
  const domain = freshDomain();
  const ran = await home.run(['register', domain, '--email', freshAddress(), '--quiet']);
  expect([ran.exitCode, ran.stderr]).toEqual([0, '']);
  for (const text of [`${domain} is registered`, '1. ', '2. ', '3. ', 'emailauth init']) expect(ran.stdout).toContain(text);
});

test('registers a Unicode domain by its A-label', async () => {
  const label = freshDomain().split('.')[0];
  const ran = await home.run(['register', ` https://www.BÜCHER-${label}.example/buch?nr=1 `, '--email', freshAddress(), '--json']);
  expect(ran.exitCode).toBe(0);
  expect(ran.json().domain).toMatch(/^xn--bcher-[a-z0-9-]+\.example$/);
  expect(ran.stdout).toContain(`domain=${ran.json().domain}`);
});

test('exits with 6 for a taken domain, without its owner, and explains how to verify it', async () => {
  const owner = freshAddress('owner');
  const domain = await registerWebsite(service.client(), freshDomain(), owner);
  const ran = await home.run(['register', `https://${domain.toUpperCase()}/`, '--email', freshAddress('rival'), '--json']);
  expect(ran.exitCode).toBe(6);
  const { code, hint } = ran.json().error;
  expect([code, hint]).toEqual(['domain_taken', expect.stringContaining(`emailauth sites verify ${domain.toUpperCase()}`)]);
  expect(hint).toContain('emailauth login');
  expect(ran.stdout + ran.stderr).not.toContain(owner);
  expect(await ownerOf(domain)).toBe(owner);
});

test.each([
  ['https://app.shop.example/', 'shop.example'],
  ['app.shop.example', 'shop.example'],
  ['co.uk', 'public suffix'],
  ['localhost', 'a service in local mode has it already'],
  ['10.0.0.1', 'IP address'],
  ['', 'Domain'],
  ["a';id;'.example", 'valid domain'],
])('rejects %j with a message and exits with 3', async (domain, sentence) => {
  const ran = await home.run(['register', domain, '--email', freshAddress()]);
  expect([ran.exitCode, ran.stdout]).toEqual([3, '']);
  expect(ran.stderr).toContain(sentence);
});

test('exits with 3 for an invalid address, and names a missing argument when it cannot prompt', async () => {
  const bad = await home.run(['register', freshDomain(), '--email', 'ann@', '--json']);
  expect([bad.exitCode, bad.json().error.code]).toEqual([3, 'bad_email']);
  const noDomain = await home.run(['register', '--email', freshAddress()]);
  expect([noDomain.exitCode, noDomain.stderr]).toEqual([3, expect.stringContaining('<domain> is missing')]);
  const noEmail = await home.run(['register', freshDomain()]);
  expect([noEmail.exitCode, noEmail.stderr]).toEqual([3, expect.stringContaining('--email <address> is missing')]);
});

test('exits with 8 without a service', async () => {
  const nowhere = `http://localhost:${await freePort()}`;
  const ran = await home.run(['register', freshDomain(), '--email', freshAddress(), '--host', nowhere]);
  expect([ran.exitCode, ran.stderr]).toEqual([8, expect.stringContaining(`${nowhere} cannot be reached`)]);
});

test('prompts for both in a terminal and validates each input immediately', async () => {
  const [domain, email] = [freshDomain(), freshAddress('owner')];
  const terminal = openTerminal(home, ['register']);
  await terminal.waitFor('Domain');
  terminal.type(`app.${domain}${KEYS.enter}`);
  await terminal.waitFor(`Give the root domain only: ${domain}`);
  terminal.type('\x15');
  terminal.type(`https://www.${domain}/cart${KEYS.enter}`);
  await terminal.waitFor('Email address');
  terminal.type(`${email.replace('@', ' at ')}${KEYS.enter}`);
  await terminal.waitFor('Please enter a valid email address');
  terminal.type('\x15');
  terminal.type(`${email}${KEYS.enter}`);
  await terminal.waitFor(`${domain} is registered`);
  expect(await terminal.exited).toBe(0);
  expect(await ownerOf(domain)).toBe(email);
  await terminal.close();
});

test('rejects an invalid domain before it prompts for the address', async () => {
  const terminal = openTerminal(home, ['register', 'co.uk']);
  expect(await terminal.exited).toBe(3);
  expect(terminal.text()).toContain('co.uk is a public suffix');
  expect(terminal.text()).not.toContain('Email address');
  await terminal.close();
});

test('exits with 2 on Ctrl-C at a prompt and registers nothing', async () => {
  const domain = freshDomain();
  const terminal = openTerminal(home, ['register', domain]);
  await terminal.waitFor('Email address');
  terminal.type(KEYS.interrupt);
  expect(await terminal.exited).toBe(2);
  expect(terminal.text()).toContain('Cancelled');
  expect(await ownerOf(domain)).toBeUndefined();
  await terminal.close();
});
