import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { freshAddress, freshDomain, visitorToken } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';
import { openMailedLink } from './sign-in.ts';
import { KEYS, openTerminal, type Terminal } from './terminal.ts';

const { stage, service, names } = await useService();
let home: Home;
const terminals: Terminal[] = [];
beforeAll(async () => {
  home = await openHome(service.url);
});
afterAll(async () => {
  for (const terminal of terminals) await terminal.close();
  await home?.close();
});

/** Runs a command in the developer's terminal. */
function open(...args: string[]): Terminal {
  const terminal = openTerminal(home, args);
  terminals.push(terminal);
  return terminal;
}

/** Runs a command without prompts. @returns its output */
async function shown(exitCode: number, ...args: string[]): Promise<string> {
  const terminal = open(...args);
  const code = await terminal.exited;
  expect([args.join(' '), code, terminal.text()]).toEqual([args.join(' '), exitCode, expect.anything()]);
  return terminal.text();
}

test('a developer works in the terminal from the first registration to the logout', { timeout: 300_000 }, async () => {
  const [email, domain, second] = [freshAddress('dev'), freshDomain(), freshDomain()];

  const registering = open('register');
  await registering.waitFor('Domain');
  registering.type(`${domain}${KEYS.enter}`);
  await registering.waitFor('address');
  registering.type(`${email}${KEYS.enter}`);
  await registering.waitFor(`emailauth init --domain ${domain}`);
  expect(await registering.exited).toBe(0);
  // The email to the linked address about its domain.
  await stage.mailbox.waitFor(email);

  const byCode = open('login', '--email', email);
  await byCode.waitFor('Code:');
  byCode.type(`${(await stage.mailbox.waitFor(email)).code}${KEYS.enter}`);
  expect(await byCode.exited).toBe(0);
  expect(await shown(0, 'whoami')).toContain(email);
  // The earlier registration by the same address now belongs to the account.
  expect(await shown(0, 'sites', 'list')).toContain(domain);

  const byLink = open('login', '--email', email);
  await byLink.waitFor('Code:');
  expect((await openMailedLink(await stage.mailbox.waitFor(email))).text).toContain('close');
  expect(await byLink.exited).toBe(0);
  expect(byLink.text()).toContain(`Signed in as ${email}`);

  expect(await shown(0, 'sites', 'add', second)).toContain(`${service.url}/dashboard/websites/${second}`);
  const renamed = freshDomain();
  expect(await shown(0, 'sites', 'update', second, '--domain', renamed, '--yes')).toContain(renamed);

  const verifying = open('sites', 'verify', renamed);
  await verifying.waitFor('Check again');
  const { proof } = (await home.run(['sites', 'get', renamed, '--json'])).json();
  names.setText(proof.record, [proof.value]);
  verifying.type(KEYS.enter);
  await verifying.waitFor(`${renamed} is verified`);
  expect(await verifying.exited).toBe(0);

  const visitor = freshAddress();
  const token = await visitorToken(stage, service.client(), domain, visitor);
  // A verification by another website does not use up the token.
  await shown(10, 'verify', '--domain', renamed, '--', token);
  expect(await shown(0, 'verify', '--domain', domain, '--', token)).toContain(visitor);
  expect(await shown(10, 'verify', '--', token)).toContain('already verified');

  // The one that a local service makes for itself.
  const password = (await readFile(join(stage.dataDir, 'admin-password'), 'utf8')).trim();
  const statistics = open('stats');
  await statistics.waitFor('password');
  statistics.type(`${password}${KEYS.enter}`);
  await statistics.waitFor('? help');
  await statistics.waitFor(/Today[\s\S]*Total, 30 days[\s\S]*Average a day/);
  expect(statistics.text()).not.toContain(password);
  statistics.type('?');
  await statistics.waitFor('auto-refresh');
  statistics.type('?');
  statistics.type(KEYS.left);
  statistics.type('q');
  expect(await statistics.exited).toBe(0);

  const removing = open('sites', 'remove', renamed);
  await removing.waitFor('Type the domain');
  removing.type(`${renamed}${KEYS.enter}`);
  expect(await removing.exited).toBe(0);
  expect(await shown(5, 'sites', 'get', renamed)).toContain(renamed);

  await shown(0, 'logout');
  expect(await shown(4, 'whoami')).toContain('emailauth login');
});
