import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterEach, describe, expect, test } from 'vitest';
import { useService } from '../support/harness.ts';
import type { ReceivedMail } from '../support/mailbox.ts';
import { entry } from '../support/program.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openMailedLink, redirectOf } from './sign-in.ts';
import { KEYS, openProgram, openTerminal, spawnTerminal, type Terminal } from './terminal.ts';

const { stage, service } = await useService();

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
const kept = <Each extends { close(): Promise<void> }>(each: Each) => {
  open.push(each);
  return each;
};
const newHome = async (host = service.url) => kept(await openHome(host));

/** Starts `login` in a terminal and waits for its field and the email. */
async function begin(home: Home, options: { env?: Record<string, string>; columns?: number } = {}) {
  const email = freshAddress('dev');
  const terminal = kept(openTerminal(home, ['login', '--email', email], options));
  await terminal.waitFor('Code:');
  return { email, terminal, mail: await stage.mailbox.waitFor(email) };
}

const whoami = async (home: Home) => (await home.run(['whoami', '--json'])).json().email;
const credentialsOf = (home: Home) => join(home.directory, '.config/emailauth/credentials.json');

async function enter(terminal: Terminal, code: string, answer: string | RegExp) {
  terminal.type(code);
  terminal.type(KEYS.enter);
  await terminal.waitFor(answer);
}

/** Returns a code that differs from the email's, another one for each number. */
const wrongCode = ({ code }: ReceivedMail, n: number) => String((Number(code) + n) % 1_000_000).padStart(6, '0');

/** Asserts that the cursor is visible and bracketed paste is off. */
function expectAsItWas(terminal: Terminal) {
  const bytes = terminal.bytes();
  expect(bytes.lastIndexOf('\x1b[?25l')).toBeLessThanOrEqual(bytes.lastIndexOf('\x1b[?25h'));
  expect(bytes.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(bytes.lastIndexOf('\x1b[?2004h'));
}

describe('in a terminal', () => {
  test('prompts for the address, rejects an invalid one, and accepts the code with a space', async () => {
    const [home, email] = [await newHome(), freshAddress('dev')];
    const terminal = kept(openTerminal(home, ['login']));
    await terminal.waitFor('Your email address');
    await enter(terminal, 'nobody', 'Please enter a valid email address');
    await enter(terminal, `${KEYS.backspace.repeat(6)}${email}`, 'Code:');
    await terminal.waitFor(/Waiting for the link or its code, 9:\d\d left/);
    const { code } = await stage.mailbox.waitFor(email);
    await enter(terminal, `${code.slice(0, 3)} ${code.slice(3)}`, `Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).not.toContain('Code:');
    expectAsItWas(terminal);
    expect(await whoami(home)).toBe(email);
  });

  test('completes by the link in another browser of this machine and removes the field', async () => {
    const home = await newHome();
    const { email, terminal, mail } = await begin(home);
    terminal.type('12');
    await terminal.waitFor('Code: 12');
    const redirectUrl = await redirectOf(mail);
    const page = await openMailedLink(mail);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('You can close this window')]);
    await terminal.waitFor(`Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
    expectAsItWas(terminal);
    expect(await whoami(home)).toBe(email);
    await expect(fetch(redirectUrl)).rejects.toThrow();
  });

  test('signs in once when link and code arrive at the same time', async () => {
    const home = await newHome();
    const { email, terminal, mail } = await begin(home);
    const redirectUrl = await redirectOf(mail);
    terminal.type(`${mail.code}${KEYS.enter}`);
    // The second one finds the same page, or no listener.
    const page = await fetch(redirectUrl)
      .then((answer) => answer.status)
      .catch(() => 'nobody');
    expect([200, 'nobody']).toContain(page);
    await terminal.waitFor(`Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
    expect(await whoami(home)).toBe(email);
  });

  test('prompts for the code over SSH, names the machine of the link and opens no browser', async () => {
    const home = await newHome();
    const seen = join(home.directory, 'opened');
    const { email, terminal, mail } = await begin(home, {
      env: { ...(await browserOf(home, seen)), SSH_CONNECTION: '192.0.2.7 50000 192.0.2.8 22' },
    });
    await terminal.waitFor('Type its six digits here');
    await enter(terminal, mail.code, `Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
    expect(existsSync(seen)).toBe(false);
  });

  test('takes the code out of a pasted line of the email, and digits of another script', async () => {
    const { email, terminal, mail } = await begin(await newHome());
    terminal.type(`\x1b[200~@auth24.example #${mail.code}\x1b[201~`);
    await terminal.waitFor(`Code: ${mail.code.slice(0, 3)} ${mail.code.slice(3)}`);
    terminal.type('\x15');
    const arabic = [...mail.code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('');
    await enter(terminal, arabic, `Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
  });

  test('shows the attempts left after wrong codes, a hint after the third, and stops after five; the link still works', async () => {
    const { email, terminal, mail } = await begin(await newHome());
    await enter(terminal, '12', 'The code has six digits: 4 are missing.');
    await enter(terminal, wrongCode(mail, 1).slice(2), '4 tries are left');
    terminal.type(`${wrongCode(mail, 2)}${KEYS.enter}`);
    await terminal.waitFor('3 tries are left');
    await enter(terminal, wrongCode(mail, 3), /2 tries are left\. Use the digits of the newest email/);
    await terminal.waitFor(/press r for a\s+new email/);
    await enter(terminal, wrongCode(mail, 4), 'One try is left');
    await enter(terminal, wrongCode(mail, 5), 'Too many wrong codes');
    await enter(terminal, mail.code, 'Too many wrong codes');
    await openMailedLink(mail);
    await terminal.waitFor(`Signed in as ${email}`);
    expect(await terminal.exited).toBe(0);
  });

  test('sends another email by r; its code and the link of the older email work', async () => {
    for (const way of ['older link', 'older code', 'newer code']) {
      const { email, terminal, mail } = await begin(await newHome());
      terminal.type('r');
      await terminal.waitFor('A new email is on its way');
      const newer = await stage.mailbox.waitFor(email);
      expect(newer.code).not.toBe(mail.code);
      terminal.type('r');
      await terminal.waitFor('A new email was sent a moment ago');
      if (way === 'older link') await openMailedLink(mail);
      else terminal.type(`${(way === 'older code' ? mail : newer).code}${KEYS.enter}`);
      await terminal.waitFor(`Signed in as ${email}`);
      expect(await terminal.exited).toBe(0);
    }
  });

  test.each([
    ['Ctrl-C', KEYS.interrupt],
    ['Esc', KEYS.escape],
  ])('%s exits with 2 and keeps nothing', async (_name, key) => {
    const home = await newHome();
    const { terminal, mail } = await begin(home);
    const redirectUrl = await redirectOf(mail);
    terminal.type(key);
    expect(await terminal.exited).toBe(2);
    expectAsItWas(terminal);
    expect(terminal.text()).toContain('Cancelled');
    await expect(fetch(redirectUrl)).rejects.toThrow();
    expect(existsSync(credentialsOf(home)) && (await readFile(credentialsOf(home), 'utf8'))).not.toContain('token');
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('restores the terminal and exits with 2 on %s', async (signal) => {
    const home = await newHome();
    const script = `"${process.execPath}" "${entry}" login --email ${freshAddress()}; echo "code $?"; stty -a`;
    const shell = kept(openProgram(home, 'bash', ['-c', script]));
    await shell.waitFor('Code:');
    const { stdout } = await execa('pgrep', ['-P', String(shell.pid)]);
    process.kill(Number(stdout), signal);
    expect(await shell.exited).toBe(0);
    expect(shell.text()).toMatch(/code 2\s[\s\S]*[^-]icanon/);
    expectAsItWas(shell);
  });

  test('fits a narrow window and one whose width changes', async () => {
    const { terminal, email, mail } = await begin(await newHome(), { columns: 40 });
    await enter(terminal, wrongCode(mail, 1), /4 tries are\s+left/);
    for (const [columns, field] of [
      [
        30,
        /its\ncode, \d+:\d\d left\nEnter sends the code, r\nrequests a new email, Esc\ncancels\.\nThis code is wrong\. 4 tries\nare left\.\nCode: 7\n/,
      ],
      [100, /code, \d+:\d\d left\nEnter .* Esc cancels\.\nThis .* left\.\nCode: 77\n/],
      [50, /code, \d+:\d\d left\nEnter sends the code, r requests a new email, Esc\ncancels\.\nThis .* left\.\nCode: 777\n/],
    ] as const) {
      await terminal.resize(columns, 24);
      terminal.type('7');
      await terminal.waitFor(field);
    }
    terminal.type(`\x15${mail.code}${KEYS.enter}`);
    await terminal.waitFor(/Signed in as \S+/);
    await terminal.waitFor(email);
  });

  test('sends no other email for an r in pasted text, in a terminal that does not mark it as pasted', async () => {
    const { email, terminal, mail } = await begin(await newHome());
    terminal.type(`Your code for the portal: ${mail.code.slice(0, 3)} ${mail.code.slice(3)}`);
    await enter(terminal, '', `Signed in as ${email}`);
    expect(stage.mailbox.mailsFor(email)).toHaveLength(1);
  });

  test('uses only the digits of pasted text', async () => {
    const { email, terminal, mail } = await begin(await newHome());
    terminal.type(`\x1b[200~Your code, for one sign-in: ${mail.code.slice(0, 3)} ${mail.code.slice(3)}\x1b[201~`);
    await enter(terminal, '', `Signed in as ${email}`);
    expect(stage.mailbox.mailsFor(email)).toHaveLength(1);
  });
});

/** Installs a browser that records URLs; `xdg-open` finds it by the desktop settings or by BROWSER. */
async function browserOf({ directory }: Home, seen: string): Promise<Record<string, string>> {
  const browser = join(directory, 'browser.sh');
  const applications = join(directory, '.local/share/applications');
  await mkdir(applications, { recursive: true });
  await mkdir(join(directory, '.config'), { recursive: true });
  await writeFile(browser, `#!/bin/sh\nprintf %s "$1" > "${seen}.part" && mv "${seen}.part" "${seen}"\n`);
  await chmod(browser, 0o755);
  await writeFile(join(applications, 'test.desktop'), `[Desktop Entry]\nType=Application\nName=Test\nExec=${browser} %u\n`);
  await writeFile(join(directory, '.config/mimeapps.list'), '[Default Applications]\nx-scheme-handler/http=test.desktop\n');
  return { DISPLAY: ':9', BROWSER: browser };
}

test('opens the built-in inbox in local mode, or only prints its URL with --no-browser', async () => {
  const local = await stage.start({ SMTP_URL: '' });
  const home = await newHome(local.url);
  const inbox = `${local.url}/dev/inbox`;
  const seen = join(home.directory, 'opened');
  const env = await browserOf(home, seen);
  // The browser gets the environment of the process.
  const terminal = kept(spawnTerminal(home, ['login', '--email', freshAddress()], { env, columns: 120 }));
  await terminal.waitFor(`is open in your browser: ${inbox}`);
  await waitUntil('the browser is asked', 30_000, () => existsSync(seen));
  expect(await readFile(seen, 'utf8')).toBe(inbox);
  const other = kept(openTerminal(home, ['login', '--no-browser', '--email', freshAddress()], { env, columns: 120 }));
  await other.waitFor(`Read it in the inbox of local mode: ${inbox}`);
  await local.stop();
});
