import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Home, openHome } from './command.ts';
import { openFakeService } from './fake-service.ts';
import { projects } from './project.ts';
import { openTerminal } from './terminal.ts';

// Files and directories that someone else prepared, in which a person runs the command.

let home: Home;
let directory: string;
beforeAll(async () => {
  home = await openHome('http://127.0.0.1:1');
});
afterAll(() => home.close());
beforeEach(async () => {
  directory = await mkdtemp(join(await realpath(tmpdir()), 'emailauth-prepared-'));
  return () => rm(directory, { recursive: true });
});

const SECRET = 'known-to-others-known-to-others-known-to-others\n';

describe('./data', () => {
  // Without the refusal, the service would not start either, with another code.
  const settings = { PORT: 'none' };
  const start = (...args: string[]) => home.run([...(args.length > 0 ? args : ['start']), '--json'], { cwd: directory, env: settings });

  test.each<[string, () => Promise<unknown>]>([
    ['has secrets', () => writeFile(join(directory, 'data/secret-key'), SECRET, { mode: 0o600 })],
    ['has a password', () => writeFile(join(directory, 'data/admin-password'), SECRET, { mode: 0o600 })],
    ['has a cluster', () => mkdir(join(directory, 'data/postgres'))],
    ['has links', () => mkdir(join(directory, 'data/inbox')).then(() => symlink('/etc', join(directory, 'data/inbox/x')))],
    ['claims to be its own', () => writeFile(join(directory, 'data/created-here'), '1 2\n')],
    [
      'came with a repository',
      async () => {
        const origin = join(directory, 'origin');
        await mkdir(join(origin, 'data'), { recursive: true });
        await writeFile(join(origin, 'data/secret-key'), SECRET);
        const git = (...args: string[]) =>
          execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], { cwd: origin });
        for (const args of [
          ['init', '--quiet'],
          ['add', '.'],
          ['commit', '--quiet', '-m', 'x'],
        ])
          git(...args);
        await rm(join(directory, 'data'), { recursive: true });
        git('clone', '--quiet', origin, join(directory, 'clone'));
        await rename(join(directory, 'clone/data'), join(directory, 'data'));
        await chmod(join(directory, 'data/secret-key'), 0o600);
      },
    ],
  ])('is not used when it %s', async (_, prepare) => {
    await mkdir(join(directory, 'data'), { mode: 0o700 });
    await prepare();
    const before = await readdir(join(directory, 'data'), { recursive: true });
    for (const args of [[], ['backup', 'x.tar'], ['restore', 'x.tar', '--yes']]) {
      const ran = await start(...args);
      expect([ran.exitCode, ran.json().error]).toEqual([
        6,
        {
          code: 'foreign_data',
          message: expect.stringContaining(`${directory}/data was not created by this program on this machine`),
          hint: expect.stringContaining(`DATA_DIR=${directory}/data`),
        },
      ]);
    }
    expect(await readdir(join(directory, 'data'), { recursive: true })).toEqual(before);
  });

  test('is not followed when it is a link', async () => {
    await mkdir(join(directory, 'elsewhere'));
    await symlink('elsewhere', join(directory, 'data'));
    expect((await start()).json().error).toMatchObject({ code: 'foreign_data', message: expect.stringContaining('is a link') });
    expect(await readdir(join(directory, 'elsewhere'))).toEqual([]);
  });

  test('is used again when this program has created it, also after the directory was moved, but not as a copy', async () => {
    const isRefused = async () => /foreign_data/.test((await start()).stdout);
    expect(await isRefused()).toBe(false);
    const secret = await readFile(join(directory, 'data/created-here'), 'utf8');
    expect(await isRefused()).toBe(false);
    await rename(join(directory, 'data'), join(directory, 'moved'));
    await rename(join(directory, 'moved'), join(directory, 'data'));
    expect(await isRefused()).toBe(false);
    await cp(join(directory, 'data'), join(directory, 'copy'), { recursive: true });
    await rm(join(directory, 'data'), { recursive: true });
    await rename(join(directory, 'copy'), join(directory, 'data'));
    expect(await readFile(join(directory, 'data/created-here'), 'utf8')).toBe(secret);
    expect(await isRefused()).toBe(true);
  });
});

describe('a directory with a hostile name', () => {
  const NAME = '$(touch pwned) \x1b[31m\x1b]0;owned\x07\nnext';
  const control = /(?!\n)[\p{Cc}\p{Bidi_Control}]/u;

  test('is printed without control sequences, and quoted in commands', async () => {
    const project = join(directory, NAME);
    await mkdir(join(project, '.venv/bin'), { recursive: true });
    await writeFile(join(project, '.venv/bin/python'), '');
    await writeFile(join(project, 'app.py'), 'from flask import Flask\napp = Flask(__name__)\n');
    await writeFile(join(project, 'requirements.txt'), 'flask\n');
    for (const args of [
      ['init', '--dry-run', '--framework', 'fastapi'],
      ['init', '--yes', '--framework', 'fastapi', '--no-install', '--no-verify'],
      ['init', 'nowhere'],
      ['try'],
      ['try', 'nowhere'],
    ]) {
      const { stdout, stderr } = await home.run(args, { cwd: project });
      expect(stdout + stderr).not.toMatch(control);
      // Outside of quotes, a shell would run it.
      for (const line of (stdout + stderr).split('\n').filter((each) => /\bpip install\b|python/.test(each)))
        expect(line.replace(/\$?'(?:\\.|[^'\\])*'/g, '')).not.toContain('$(');
    }
  });

  test('reaches no terminal as a control sequence', async () => {
    const project = join(directory, NAME);
    await mkdir(project);
    await writeFile(join(project, 'package.json'), projects.express['package.json']);
    await writeFile(join(project, 'app.js'), projects.express['app.js'] ?? '');
    const terminal = openTerminal(home, ['init', '--domain', 'localhost', '--no-install', '--no-verify'], { cwd: project, rows: 60 });
    await terminal.waitFor(/Write (?:this|these)/);
    for (const sequence of ['\x1b]0;', '\x07', 'pwned) \x1b[31m']) expect(terminal.bytes()).not.toContain(sequence);
    await terminal.close();
  });
});

test('EMAILAUTH_TOKEN does not go to a program that listens at the default address, also not on Tab', async () => {
  const env = { EMAILAUTH_HOST: '', EMAILAUTH_TOKEN: 'ea_live_something' };
  const run = (args: string[]) => home.run(args, { env, cwd: directory });
  for (const args of [['sites', 'list'], ['whoami'], ['tail'], ['verify', 'token']]) {
    const ran = await run([...args, '--json']);
    expect([ran.exitCode, ran.json().error]).toEqual([
      3,
      {
        code: 'usage',
        message: 'EMAILAUTH_TOKEN is set, but not the service it is for.',
        hint: expect.stringContaining('EMAILAUTH_HOST=http://localhost:4400'),
      },
    ]);
  }
  expect((await run(['complete', '--', 'sites', 'get', ''])).stdout).toBe(':4');
  const service = await openFakeService((_, response) => response.end('[]'));
  await run(['config', 'set', 'host', service.url]);
  expect((await run(['sites', 'list', '--json'])).exitCode).toBe(0);
  await run(['config', 'set', 'host']);
  await service.close();
});
