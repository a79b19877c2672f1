import type { Page } from 'playwright';
import { beforeAll, expect, test } from 'vitest';
import { addProvenWebsite, freshAddress, signInDeveloper } from '../support/sign-ins.ts';
import { heading, signInToPortal, text, useScene } from './scene.ts';

const scene = await useScene();
let ann: { email: string; page: Page };
let domain: string;
beforeAll(async () => {
  const email = freshAddress('ann');
  domain = await addProvenWebsite(scene.names, await signInDeveloper(scene.stage, scene.service, email));
  // The notice of the proof.
  await scene.stage.mailbox.waitFor(email);
  ann = { email, page: await (await scene.newBrowser()).newPage() };
  await signInToPortal(scene, ann.page, email);
});

const openTeam = async (page: Page) => {
  await page.goto(`${scene.service.url}/dashboard/websites/${domain}/team`);
  await heading(page, 'Team');
};
const rowOf = (page: Page, email: string) => page.getByRole('listitem').filter({ has: page.getByText(email, { exact: true }) });
const said = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor();

test('an owner invites an address, which signs in by the link, accepts in the portal, changes nothing of the team, and leaves', async () => {
  const { page } = ann;
  const email = freshAddress('ben');
  await openTeam(page);
  await page.getByLabel('Email address').fill('ben');
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await page.getByRole('alert').getByText('Please enter a valid email address').waitFor();
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await rowOf(page, email).getByText('Invited', { exact: true }).waitFor();

  const ben = await (await scene.newBrowser()).newPage();
  await ben.goto((await scene.stage.mailbox.waitFor(email)).link);
  await ben.getByRole('textbox').fill(email);
  await ben.getByRole('button', { name: text('en', 'continue_to_portal') }).click();
  await ben.waitForURL(`${scene.service.url}/developer**`);
  await heading(ben, 'Confirm Sign In');
  await ben.getByRole('button', { name: text('en', 'continue_to_portal') }).click();
  await heading(ben, `You are invited to manage ${domain}`);
  await ben.goto(`${scene.service.url}/dashboard/websites/${domain}`);
  await heading(ben, 'No such website');
  await ben.goto(`${scene.service.url}/developer-email-auth`);
  await ben.getByText(`By ${ann.email}, as a member.`).waitFor();
  await ben.getByRole('button', { name: 'Accept' }).click();
  await ben.waitForURL(`${scene.service.url}/dashboard/websites/${domain}/setup`);
  await said(ben, `You manage ${domain}`);

  await openTeam(ben);
  await rowOf(ben, email).getByText('You', { exact: true }).waitFor();
  expect(await ben.getByRole('button', { name: 'Send invitation' }).count()).toBe(0);
  expect(await rowOf(ben, ann.email).getByRole('button').count()).toBe(0);

  await openTeam(page);
  await page.getByLabel(`Role of ${email}`).selectOption('owner');
  await said(page, `${email} is an owner.`);
  await openTeam(ben);
  await ben.getByRole('button', { name: 'Send invitation' }).waitFor();
  await ben.getByRole('button', { name: `Leave the team of ${domain}` }).click();
  await ben.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click();
  await ben.waitForURL(`${scene.service.url}/developer-email-auth`);
  await heading(ben, 'No Websites Added');
});

test('an owner sends an expired invitation again and removes it, and a person declines one', async () => {
  const { page } = ann;
  const email = freshAddress('cy');
  const cy = await (await scene.newBrowser()).newPage();
  await openTeam(page);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Send invitation' }).click();
  await rowOf(page, email).waitFor();
  await scene.stage.query(`update website_members set invited_at = now() - interval '8 days' where email = $1`, [email]);
  await openTeam(page);
  await rowOf(page, email).getByText('Invitation expired').waitFor();
  await page.getByRole('button', { name: `Send the invitation to ${email} again` }).click();
  await rowOf(page, email).getByText('Invited', { exact: true }).waitFor();

  await scene.stage.mailbox.waitFor(email);
  await scene.stage.mailbox.waitFor(email);
  await signInToPortal(scene, cy, email);
  await cy.getByRole('button', { name: 'Decline' }).click();
  await said(cy, 'Invitation declined');
  expect(await cy.getByRole('region', { name: 'Invitations' }).count()).toBe(0);

  await openTeam(page);
  await rowOf(page, ann.email).waitFor();
  expect(await rowOf(page, email).count()).toBe(0);
});
