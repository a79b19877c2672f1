import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { useService } from '../support/harness.ts';
import { entry } from '../support/program.ts';
import { freshDomain, signInDeveloper } from '../support/sign-ins.ts';
import { waitUntil } from '../support/waiting.ts';
import { type Home, openHome } from './command.ts';
import { openFakeService } from './fake-service.ts';
import { openProgram, type Terminal } from './terminal.ts';

const CLEAR_LINE = '\x15';
const shells = {
  bash: { args: ['--norc', '-i'], load: 'source <(emailauth completion bash)' },
  zsh: { args: ['-f', '-i'], load: 'autoload -Uz compinit && compinit -u -D && source <(emailauth completion zsh)' },
  fish: { args: ['--no-config', '-i'], load: 'emailauth completion fish | source' },
};

const { stage, service } = await useService();
let home: Home;
let domain: string;
let site: object;
beforeAll(async () => {
  home = await openHome(service.url);
  const { client } = await signInDeveloper(stage, service);
  domain = freshDomain();
  site = (await client.post('/api/websites', { domain })).json;
  home.env.EMAILAUTH_TOKEN = String(client.cookies.get('sid'));
  const bin = join(home.directory, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'emailauth'), `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`);
  await chmod(join(bin, 'emailauth'), 0o755);
  home.env.PATH = `${bin}:${home.env.PATH}`;
  await writeFile(join(home.directory, 'logo of shop.png'), '');
});
afterAll(async () => {
  await home.close();
});

/** Presses Tab until the shell shows a text, since a response that takes more than a second completes nothing. */
async function completes(shell: Terminal, typed: string, shown: RegExp | string) {
  await waitUntil(`${typed} is completed`, 90_000, async () => {
    shell.type(`${CLEAR_LINE}${typed}\t`);
    return shell.waitFor(shown, 10_000).then(
      () => true,
      () => shell.text().trimEnd(),
    );
  });
}

async function openShell(name: keyof typeof shells, env: Record<string, string> = {}): Promise<Terminal> {
  const { args, load } = shells[name];
  const shell = openProgram(home, name, args, { columns: 120, env });
  onTestFinished(() => shell.close());
  shell.type(`${load}; echo lo''aded\r`);
  await shell.waitFor('loaded');
  return shell;
}

for (const name of ['bash', 'zsh', 'fish'] as const) {
  const isMissing = spawnSync(name, ['--version']).error !== undefined;
  if (isMissing) console.warn(`${name} IS NOT INSTALLED: its completion is not tested here.`);

  test.skipIf(isMissing)(`${name} completes commands, flags, values, domains and files at Tab`, async () => {
    const shell = await openShell(name);
    const complete = async (typed: string, shown: RegExp | string) => {
      await completes(shell, typed, shown);
      shell.type(CLEAR_LINE);
    };
    await complete('emailauth sites upd', /emailauth sites update/);
    await complete(`emailauth sites get ${domain.slice(0, 8)}`, `emailauth sites get ${domain}`);
    await complete('emailauth sites add --icon lo', /--icon logo(\\ of\\ shop|' of shop')\.png/);
    // Two with the same prefix, with descriptions where the shell shows them.
    shell.type('emailauth sites re');
    shell.type(CLEAR_LINE);
    shell.type('emailauth re\t\t');
    await shell.waitFor(name === 'bash' ? /register +restore/ : /register .*register a domain/);
  });

  test.skipIf(isMissing)(`${name} runs nothing of what is typed or of what the service answers`, async () => {
    const server = await openFakeService((_, response) => {
      const domains = ['$(touch pwned)', '`touch pwned`', 'sound.example'];
      response.end(JSON.stringify(domains.map((domain) => ({ ...site, domain }))));
    });
    onTestFinished(() => server.close());
    const shell = await openShell(name, { EMAILAUTH_HOST: server.url });
    shell.type('emailauth sites get $(touch pwned) \t');
    shell.type(CLEAR_LINE);
    await completes(shell, 'emailauth sites get ', 'emailauth sites get sound.example');
    expect(existsSync(join(home.directory, 'pwned'))).toBe(false);
  });
}

test.each([
  ['si', 'sites'],
  ['sites add --ic', '--icon'],
  ['completion zs', 'zsh'],
  ['init --framework sv', 'sveltekit'],
  ['init --framework=sv', 'sveltekit'],
])('completes %s', async (typed, completed) => {
  const { stdout } = await home.run(['complete', '--', ...typed.split(' ')]);
  expect(stdout).toMatch(new RegExp(`^(?:--framework=)?${completed}\\b`, 'm'));
});

test('completes without messages when not signed in and when no service responds', async () => {
  const silent = await openFakeService(() => {});
  onTestFinished(() => silent.close());
  const ask = (env: Record<string, string>) => home.run(['complete', '--', 'sites', 'get', ''], { env });
  await waitUntil('the service responds within a second', 60_000, async () => (await ask({})).stdout === `${domain}\t\nlocalhost\t\n:4`);
  const strangers: Record<string, string>[] = [
    { EMAILAUTH_TOKEN: '' },
    { EMAILAUTH_HOST: 'http://127.0.0.1:1' },
    { EMAILAUTH_HOST: silent.url },
    { EMAILAUTH_HOST: '::' },
  ];
  for (const env of strangers) {
    expect(await ask(env)).toMatchObject({ exitCode: 0, stdout: ':4', stderr: '' });
  }
});
