import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openFakeService } from './fake-service.ts';
import { openProject, type Project, projects } from './project.ts';
import { KEYS, openTerminal, type Terminal } from './terminal.ts';

let home: Home;
let project: Project;
beforeEach(async () => {
  home = await openHome('http://127.0.0.1:1');
  project = await openProject();
});
afterEach(async () => {
  await project.remove();
  await home.close();
});

function open(args: string[], env: Record<string, string> = {}): Terminal {
  const terminal = openTerminal(home, args, { cwd: project.directory, rows: 80, env });
  onTestFinished(() => terminal.close());
  return terminal;
}

const init = (...args: string[]) => ['init', '--no-install', '--no-verify', ...args];

describe('SIGTERM', () => {
  test.each([
    ['a text', ['login'], /Your email address/],
    ['a secret', ['verify'], /Token \(this uses it up\)/],
    ['a choice', init(), /Which domain is it for\?/],
    ['a confirmation', init('--domain', 'localhost'), /Write these \d files/],
  ])('ends a prompt for %s with exit code 2, and nothing is changed', async (_, args, prompt) => {
    await project.put(projects.express);
    const terminal = open(args);
    await terminal.waitFor(prompt);
    terminal.signal('SIGTERM');
    expect(await terminal.exited).toBe(2);
    expect(terminal.text()).toContain('Cancelled; nothing was changed.');
    expect(terminal.bytes().lastIndexOf('\x1b[?25l')).toBeLessThanOrEqual(terminal.bytes().lastIndexOf('\x1b[?25h'));
    expect(await project.everything()).toEqual(projects.express);
  });
});

test('logout keeps the sign-in when it is interrupted while the service hangs', async () => {
  const service = await openFakeService(() => {});
  onTestFinished(() => service.close());
  const credential = { email: 'ann@example.com', token: 'token', expiresAt: new Date(Date.now() + 3_600_000).toISOString() };
  const directory = join(home.env.XDG_CONFIG_HOME, 'emailauth');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'credentials.json'), JSON.stringify({ default: { [service.url]: credential } }));

  const terminal = open(['logout', '--host', service.url]);
  await waitUntil('the service is asked', 30_000, () => service.count() > 0);
  terminal.type(KEYS.interrupt);
  expect(await terminal.exited).toBe(2);
  expect(terminal.text()).not.toContain('Signed out');
  const whoami = open(['whoami', '--host', service.url]);
  await waitUntil('the service is asked with the sign-in', 30_000, () => service.count() > 1);
  whoami.signal('SIGTERM');
  await whoami.exited;
});
