import { execFileSync } from 'node:child_process';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../support/waiting.ts';
import { type Home, openHome, type Ran, type RunOptions } from './command.ts';
import { openProject, type Project, projects } from './project.ts';
import { openTerminal } from './terminal.ts';

// No service runs: `init` works without one.
let home: Home;
beforeAll(async () => {
  home = await openHome(`http://localhost:${await freePort()}`);
});
afterAll(() => home?.close());

let project: Project;
beforeEach(async () => {
  project = await openProject();
});
afterEach(() => project.remove());

const app = {
  'package.json': projects.express['package.json'],
  'app.js': "import express from 'express'\nconst app = express()\napp.listen(4000)\n",
};
const run = (args: string[], options: RunOptions = {}): Promise<Ran> =>
  home.run(['init', '--domain', 'localhost', '--no-install', '--no-verify', ...args], {
    cwd: project.directory,
    ...options,
  });
const init = (...args: string[]) => run(['--yes', '--json', ...args]);
const git = (...args: string[]) => execFileSync('git', ['-C', project.directory, ...args], { stdio: 'pipe', encoding: 'utf8' });
const commit = () => {
  git('add', '--all');
  git('-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', 'commit', '--quiet', '--message', 'before');
};
const enter = (line: string, cwd = project.directory) => execFileSync('sh', ['-c', line], { cwd, stdio: 'pipe', encoding: 'utf8' });

describe('the printed command', () => {
  test('takes exactly the files of init back', async () => {
    await project.put({ ...app, '.gitignore': 'lib/\n', 'mine.js': '' });
    git('init', '--quiet');
    commit();
    await project.put({ 'mine.js': 'edited', 'new.js': 'untracked' });
    const before = await project.files();
    const { undo } = (await init()).json();
    expect(undo).toEqual({ command: 'git restore -- app.js .gitignore && git clean -fx -- auth.js .env', notes: [] });
    enter(undo.command);
    expect(await project.files()).toEqual(before);
  });

  test('is right for a subfolder with a space and a pattern in its name, from elsewhere', async () => {
    const inner = (files: Record<string, string>) =>
      Object.fromEntries(Object.entries(files).map(([path, text]) => [`the [shop]'s app/${path}`, text]));
    // The pattern matches this name, too.
    const other = Object.fromEntries(Object.entries(app).map(([path, text]) => [`the s's app/${path}`, text]));
    await project.put({ ...inner(app), ...other });
    git('init', '--quiet');
    commit();
    await project.put({ "the s's app/app.js": 'edited', "the s's app/auth.js": 'untracked' });
    const before = await project.files();
    const { undo } = (await init("the [shop]'s app")).json();
    expect(undo.command).toContain(`git -C 'the [shop]'\\''s app' restore -- app.js && git -C`);
    enter(undo.command);
    expect(await project.files()).toEqual(before);
  });

  test('names only files that a pattern of git does not match otherwise', async () => {
    const page = { 'package.json': projects.express['package.json'], 'src/[app].js': app['app.js'] };
    await project.put({ ...page, 'package.json': JSON.stringify({ ...JSON.parse(page['package.json']), main: 'src/[app].js' }) });
    await project.put({ 'src/a.js': 'mine' });
    git('init', '--quiet');
    commit();
    await project.put({ 'src/a.js': 'edited' });
    const before = await project.files();
    const { undo } = (await init()).json();
    expect(undo.command).toContain("git --literal-pathspecs restore -- 'src/[app].js'");
    enter(undo.command);
    expect(await project.files()).toEqual(before);
  });

  test.each(['a linked work tree', 'a submodule'])('is right in %s', async (kind) => {
    await project.put(app);
    git('init', '--quiet');
    commit();
    if (kind === 'a submodule') {
      git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', project.directory, 'copy');
    } else git('worktree', 'add', '--quiet', 'copy');
    const copy = join(project.directory, 'copy');
    const { undo } = (await run(['--yes', '--json'], { cwd: copy })).json();
    expect(undo.command).toBe('git restore -- app.js && git clean -fx -- auth.js .env .gitignore');
    enter(undo.command, copy);
    expect(enter('git status --porcelain --ignored', copy)).toBe('');
  });

  test('is on lines that a shell reads as one, also in a narrow terminal', async () => {
    await project.put(app);
    git('init', '--quiet');
    commit();
    const terminal = openTerminal(home, ['init', '--domain', 'localhost', '--no-install', '--no-verify', '--yes'], {
      cwd: project.directory,
      columns: 40,
      rows: 200,
      env: { NO_COLOR: '1' },
    });
    try {
      expect(await terminal.exited).toBe(0);
      const [, command = ''] = terminal.text().split('\nUndo\n');
      expect(command).toMatch(/^ {2}git restore -- /);
      enter(command);
      expect(await project.files()).toEqual(app);
    } finally {
      await terminal.close();
    }
  });
});

describe('a file that init changes', () => {
  test.each<[string, () => unknown]>([
    ['is edited', () => appendFile(join(project.directory, 'app.js'), '// mine\n')],
    ['is not in git', () => git('rm', '--quiet', '--cached', 'app.js')],
    ['has edits that git was told to ignore', () => git('update-index', '--skip-worktree', 'app.js')],
  ])('and %s is refused, and --allow-dirty leaves it to the person', async (_, change) => {
    await project.put(app);
    git('init', '--quiet');
    commit();
    await change();
    const before = await project.files();
    const refused = await init();
    expect([refused.exitCode, refused.json().error]).toEqual([
      6,
      {
        code: 'uncommitted',
        message: 'These files have changes that git does not hold: app.js. Nothing was written.',
        hint: expect.stringContaining('--allow-dirty'),
      },
    ]);
    expect(await project.files()).toEqual(before);
    const { undo } = (await init('--allow-dirty')).json();
    expect(undo).toEqual({
      command: 'git clean -fx -- auth.js .env .gitignore',
      notes: ['git did not hold `app.js` before: take the changes out by hand.'],
    });
    enter(undo.command);
    expect(await project.files()).toEqual({ ...before, 'app.js': expect.stringContaining('app.use(auth)') });
  });

  test('and is deleted is refused', async () => {
    await project.put({ ...app, 'auth.js': '' });
    git('init', '--quiet');
    commit();
    await rm(join(project.directory, 'auth.js'));
    expect((await init()).json().error.message).toContain(': auth.js.');
  });

  test('and is staged is restored as it was staged, without a commit as well', async () => {
    await project.put(app);
    git('init', '--quiet');
    expect((await init()).json().error.code).toBe('uncommitted');
    git('add', 'app.js');
    const { undo } = (await init()).json();
    enter(undo.command);
    expect(await project.files()).toEqual(app);
  });

  test('by installing packages is refused, too', async () => {
    await project.put(projects.fastify);
    git('init', '--quiet');
    const ran = await home.run(['init', '--domain', 'localhost', '--yes', '--json'], { cwd: project.directory });
    expect(ran.json().error.message).toContain(': package.json.');
  });
});

test('a .env that git does not track is completed, and the lines to remove are named', async () => {
  const env = 'KEY=hidden-value\nSITE_URL=http://localhost:9999\n';
  await project.put({ ...app, '.gitignore': '.env\n', '.env': env });
  git('init', '--quiet');
  commit();
  const { undo } = (await init()).json();
  expect(undo).toEqual({
    command: 'git restore -- app.js && git clean -fx -- auth.js',
    notes: ['git does not hold `.env`: in it, remove `SESSION_SECRET`, `EMAILAUTH_URL`.'],
  });
  enter(undo.command);
  expect(await project.files()).toEqual({ ...app, '.gitignore': '.env\n', '.env': expect.stringContaining(env) });
  await project.put({ '.env': env });
  expect((await init('--force')).json().undo.notes.join()).toContain('and set `SITE_URL=http://localhost:9999` again.');
});

test('a further run for another domain replaces what it wrote itself, and keeps what was edited', async () => {
  await project.put(app);
  git('init', '--quiet');
  commit();
  await init();
  const again = () => init('--domain', 'shop.example');
  expect((await again()).json().error.message).toContain(': auth.js.');
  commit();
  const { files, undo } = (await again()).json();
  expect(files).toContainEqual({ path: 'auth.js', action: 'changed' });
  expect(undo.notes.join()).toContain('set `SITE_URL=http://localhost:4000` again');
  expect(await project.textAt('auth.js')).toContain("'https://shop.example'");
  expect(await project.textAt('.env')).toContain('SITE_URL=https://shop.example\n');
  await appendFile(join(project.directory, 'auth.js'), '// mine\n');
  commit();
  expect((await init()).json().error).toMatchObject({ code: 'conflict', hint: expect.stringContaining('--force') });
});

describe('without git', () => {
  const options = { env: { PATH: '/nowhere' } };

  test.each<[string, () => unknown, RunOptions, RegExp]>([
    ['a repository', () => {}, {}, /is in no git repository, so/],
    ['the program', () => git('init', '--quiet'), options, /git is not installed here, so/],
    [
      'its trust',
      () => git('init', '--quiet'),
      { env: { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' } },
      /dubious ownership[\s\S]*`git config --global --add safe\.directory/,
    ],
  ])('as %s is missing, init says to make a copy, and asks', async (_, make, given, reason) => {
    await project.put(app);
    make();
    const asked = await run(['--json'], given);
    expect([asked.exitCode, asked.json().error]).toEqual([
      3,
      { code: 'usage', message: 'Cannot prompt here.', hint: 'Pass --yes to confirm.' },
    ]);
    expect(asked.stderr).toMatch(reason);
    expect(asked.stderr.replaceAll('\n', ' ')).toContain('make a copy of the project first.');
    expect(await project.files()).toEqual(app);
    const ran = await run(['--yes', '--json'], given);
    expect([ran.exitCode, ran.json().undo]).toEqual([0, { command: '', notes: [] }]);
  });

  test('the question says so', async () => {
    await project.put(app);
    const terminal = openTerminal(home, ['init', '--domain', 'localhost', '--no-install', '--no-verify'], {
      cwd: project.directory,
      rows: 80,
    });
    try {
      await terminal.waitFor(/Write these 4 files into [\s\S]+ without git\?/);
      terminal.type('n');
      expect(await terminal.exited).toBe(2);
      expect(await project.files()).toEqual(app);
    } finally {
      await terminal.close();
    }
  });
});
