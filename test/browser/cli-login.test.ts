import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome } from '../cli/command.ts';
import { redirectOf } from '../cli/sign-in.ts';
import { openTerminal } from '../cli/terminal.ts';
import { openContext } from '../support/browser.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { isAccessible, isAccessibleInBothThemes } from './axe.ts';
import { evaluates, heading, text, useScene } from './scene.ts';

const scene = await useScene();
let home: Home;
beforeAll(async () => {
  home = await openHome(scene.service.url);
});
afterAll(() => home.close());

async function begin() {
  const email = freshAddress('dev');
  const terminal = openTerminal(home, ['login', '--email', email], { columns: 120 });
  await terminal.waitFor('Code:');
  return { email, terminal, mail: await scene.stage.mailbox.waitFor(email) };
}

const phone = () => openContext({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true, colorScheme: 'dark' });

describe('the email of `emailauth login`', () => {
  test('signs the terminal in when another browser opens its link', async () => {
    const { email, terminal, mail } = await begin();
    const page = await (await scene.newBrowser()).newPage();
    await page.goto(mail.link);
    await page.waitForURL('http://127.0.0.1:*/callback?*');
    await heading(page, 'You are signed in');
    await page.getByText('You can close this window').waitFor();
    await isAccessibleInBothThemes(page);
    await terminal.waitFor(`Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
    await scene.stage.query("update sign_in_attempts set consumed_at = consumed_at - interval '10 seconds' where email = $1", [email]);
    await page.goto(mail.link);
    await heading(page, text('en', 'link_used'));
  });

  test('shows the code on a phone, where no terminal listens for the link', async () => {
    const { email, terminal, mail } = await begin();
    const context = await phone();
    const page = await context.newPage();
    await page.goto(mail.link);
    await heading(page, text('en', 'confirm_title'));
    await page.getByText(text('en', 'confirm_or_code')).waitFor();
    expect(new URL(page.url()).pathname).toBe('/auth/link');
    await isAccessible(page);
    await evaluates(page, 'document.documentElement.scrollWidth <= innerWidth', true);
    await context.close();
    terminal.type(`${mail.code}\r`);
    await terminal.waitFor(`Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
  });

  test('rejects a link with another state, and the sign-in still works', async () => {
    const { email, terminal, mail } = await begin();
    const forged = new URL(await redirectOf(mail));
    forged.searchParams.set('state', 'x'.repeat(32));
    const context = await phone();
    const page = await context.newPage();
    await page.goto(forged.href);
    await heading(page, 'This link belongs to another sign-in');
    await isAccessible(page);
    await evaluates(page, 'document.documentElement.scrollWidth <= innerWidth', true);
    await context.close();
    terminal.type(`${mail.code}\r`);
    await terminal.waitFor(`Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
  });
});
