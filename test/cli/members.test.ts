import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { addWebsite, freshAddress, freshDomain } from '../support/sign-ins.ts';
import { type Home, openHome } from './command.ts';
import { signInHome } from './sign-in.ts';

const { stage, service } = await useService();
let owner: { home: Home; email: string };
let guest: { home: Home; email: string };
beforeAll(async () => {
  [owner, guest] = await Promise.all(
    [0, 1].map(async () => {
      const home = await openHome(service.url);
      return { home, email: await signInHome(home, stage) };
    }),
  );
});
afterAll(async () => {
  await Promise.all([owner.home.close(), guest.home.close()]);
});

/** Adds a website of the owner, with a verified domain. */
async function openSite(): Promise<string> {
  const domain = await addWebsite(stage, service);
  await stage.query('update websites set email = $2, proven_at = now() where domain = $1', [domain, owner.email]);
  return domain;
}

test('an owner invites an address, which accepts; the owner changes its role and removes it', async () => {
  const domain = await openSite();
  const invited = await owner.home.run(['members', 'invite', domain, guest.email]);
  expect([invited.exitCode, invited.stdout]).toEqual([0, `${guest.email} is invited to ${domain} as a member.`]);
  expect((await guest.home.run(['invitations', 'list', '--json'])).json()).toMatchObject([
    { domain, role: 'member', invitedBy: owner.email },
  ]);
  expect((await guest.home.run(['invitations', 'accept', domain, '--json'])).json()).toEqual({ domain, accepted: true });
  const got = (await guest.home.run(['sites', 'get', domain])).stdout;
  expect(got).toMatch(new RegExp(`linked to +${owner.email}\n +your role +member`));
  const refused = await guest.home.run(['sites', 'remove', domain, '--yes', '--json']);
  expect([refused.exitCode, refused.json().error.code]).toEqual([1, 'owner_needed']);
  expect((await owner.home.run(['members', 'role', domain, guest.email, 'owner', '--json'])).json()).toMatchObject({ role: 'owner' });
  const { stdout } = await owner.home.run(['members', 'list', domain]);
  expect(stdout).toMatch(new RegExp(`${owner.email} +owner +linked.*\n${guest.email} +owner +joined +\\d{4}-\\d\\d-\\d\\d`));
  expect((await owner.home.run(['members', 'remove', domain, guest.email])).exitCode).toBe(3);
  const removed = await owner.home.run(['members', 'remove', domain, guest.email, '--yes', '--json']);
  expect(removed.json()).toEqual({ domain, email: guest.email, removed: true });
  expect((await guest.home.run(['sites', 'get', domain])).exitCode).toBe(5);
});

test('an invitation is refused with 6 for an unverified domain, and one that does not exist with 5', async () => {
  const domain = await openSite();
  await stage.query('update websites set proven_at = null where domain = $1', [domain]);
  const refused = await owner.home.run(['members', 'invite', domain, freshAddress(), '--json']);
  expect([refused.exitCode, refused.json().error.code]).toEqual([6, 'unproven_domain']);
  expect((await guest.home.run(['invitations', 'decline', freshDomain()])).exitCode).toBe(5);
  expect((await owner.home.run(['members', 'role', domain, guest.email, 'admin'])).exitCode).toBe(3);
});
