import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort, waitUntil } from '../support/waiting.ts';
import { type Home, openHome, type Ran } from './command.ts';
import { openProject, type Project, projects } from './project.ts';
import { KEYS, openTerminal } from './terminal.ts';

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

const run = (...args: string[]): Promise<Ran> => home.run(['init', ...args], { cwd: project.directory });
const init = (...args: string[]): Promise<Ran> => run('--domain', 'localhost', '--yes', '--json', ...args);

/** An app with the name of Express, so that nothing has to be installed. */
const app = {
  'package.json': '{\n  "type": "commonjs",\n  "main": "index.js",\n  "dependencies": { "express": "^5.0.0" }\n}\n',
  'node_modules/express/index.js':
    "const http = require('node:http');\nmodule.exports = () => ({ use() {}, listen: (port) => http.createServer().listen(port) });\nmodule.exports.Router = () => ({ get() {}, post() {}, use() {} });\nmodule.exports.urlencoded = () => {};\n",
  'app.js': 'const express = require("express")\nconst app = express()\nconst port = 3210\n\napp.listen(port)\n',
};
const manifest = (scripts: Record<string, string>) => JSON.stringify({ type: 'commonjs', dependencies: { express: '5' }, scripts });

describe('a project whose app starts', () => {
  test('is connected, and checked until it listens', async () => {
    await project.put(app);
    const ran = await init();
    expect([ran.exitCode, ran.json().error]).toEqual([0, undefined]);
    expect(ran.json()).toMatchObject({ framework: 'express', variant: 'commonjs', packages: [], commands: [], verified: 'node app.js' });
    expect(ran.json().files).toContainEqual({ path: 'app.js', action: 'changed' });
    expect(await project.textAt('app.js')).toBe(
      'const express = require("express")\nconst { auth } = require("./auth")\nconst app = express()\napp.use(auth)\nconst port = 3210\n\napp.listen(port)\n',
    );
    expect(await project.textAt('.env')).toContain('SITE_URL=http://localhost:3210\n');
    expect(await project.textAt('.gitignore')).toBe('.env\n');
  });

  test('is checked although another program uses its port', async () => {
    const port = await freePort();
    await project.put({ ...app, 'app.js': app['app.js'].replace('3210', String(port)) });
    const { createServer } = await import('node:http');
    const other = createServer().listen(port);
    try {
      expect((await init()).json().verified).toBe('node app.js');
    } finally {
      other.close();
    }
  });

  test('keeps its port where the service uses it, too, and init says so', async () => {
    const { port } = new URL(home.env.EMAILAUTH_HOST);
    await project.put({ ...app, 'app.js': app['app.js'].replace('3210', port) });
    expect((await init()).json().next).toContain(
      `The service uses port ${port}, too: start it at another one with \`--port\`, and run this again with \`--host\`.`,
    );
    expect(await project.textAt('app.js')).toContain(`const port = ${port}\n`);
    expect(await project.textAt('.env')).toContain(`SITE_URL=http://localhost:${port}\n`);
  });

  test('keeps a SITE_URL that someone else set, which --force replaces', async () => {
    await project.put({ ...app, '.env': 'SITE_URL=http://localhost:9999\n' });
    expect((await init()).json().next.join()).toContain('another value for SITE_URL');
    expect(await project.textAt('.env')).toContain('SITE_URL=http://localhost:9999\n');
    const shown = await run('--domain', 'shop.example', '--force', '--dry-run');
    expect(shown.stdout).toContain('-SITE_URL=http://localhost:9999\n+SITE_URL=https://shop.example');
    await run('--domain', 'shop.example', '--force', '--yes');
    expect(await project.textAt('.env')).toContain('SITE_URL=https://shop.example\n');
  });
});

describe('a project whose build fails', () => {
  test('because of the integration is rolled back, with the reason', async () => {
    // The build fails once there is a file auth.js, and leaves an output behind.
    const build =
      "node -e \"fs.mkdirSync('dist',{recursive:true});if(fs.existsSync('auth.js')){console.error('conflict in auth.js');process.exit(1)}\"";
    const files = { ...app, 'package.json': manifest({ build }) };
    await project.put(files);
    const ran = await init();
    expect([ran.exitCode, ran.json().error.code]).toEqual([1, 'build_failed']);
    expect(ran.json().error.message).toContain('`npm run build` failed with the integration; everything was rolled back.');
    expect(ran.json().error.message).toContain('conflict in auth.js');
    expect(ran.json().error.hint).toContain('Run it without the integration');
    expect(await project.everything()).toEqual({ ...files, node_modules: null, 'node_modules/express': null });
    expect((await init('--no-verify')).json().verified).toBeNull();
  });

  test('or whose app crashes at the start is rolled back', async () => {
    const files = { ...app, 'app.js': `${app['app.js']}if (process.env.X !== '1') throw new Error('no X')\n` };
    await project.put(files);
    const ran = await init();
    expect(ran.json().error).toMatchObject({ code: 'build_failed', message: expect.stringContaining('no X') });
    expect(await project.files()).toEqual(files);
  });
});

test('prints the output of the build on lines of its own with --verbose', async () => {
  await project.put({ ...app, 'package.json': manifest({ build: 'echo built' }) });
  const terminal = openTerminal(home, ['init', '--domain', 'localhost', '--yes', '--verbose'], { cwd: project.directory, rows: 200 });
  try {
    expect(await terminal.exited).toBe(0);
    expect(terminal.bytes()).toContain('Running npm run build …');
    expect(terminal.text().split('\n')).toContain('built');
    expect(terminal.text()).not.toContain('Running npm run build …');
  } finally {
    await terminal.close();
  }
});

test('Ctrl-C during the build rolls everything back', async () => {
  const build = "node -e \"fs.writeFileSync('/tmp/emailauth-' + process.ppid, '');setTimeout(()=>{},60000)\"";
  const files = { ...app, 'package.json': manifest({ build }) };
  await project.put(files);
  const terminal = openTerminal(home, ['init', '--domain', 'localhost', '--yes'], { cwd: project.directory, columns: 40 });
  try {
    await terminal.waitFor('Running npm run build');
    await waitUntil('the files are written', 30_000, async () => Object.keys(await project.files()).includes('auth.js'));
    terminal.type(KEYS.interrupt);
    expect(await terminal.exited).toBe(2);
    expect(terminal.text().replaceAll('\n', ' ')).toContain('everything was rolled back');
    expect(await project.files()).toEqual(files);
  } finally {
    await terminal.close();
  }
});

describe('packages', () => {
  const withTool = async (script: string) => {
    await project.put({ ...projects.fastify, 'bin/npm': `#!/bin/sh\n${script}\n` });
    execFileSync('chmod', ['755', join(project.directory, 'bin/npm')]);
    const env = { PATH: `${join(project.directory, 'bin')}:${process.env.PATH}` };
    return home.run(['init', '--domain', 'localhost', '--yes', '--json'], { cwd: project.directory, env });
  };

  test('that cannot be installed roll everything back', async () => {
    const ran = await withTool('echo "no such package" >&2; mkdir -p node_modules/x; echo "{}" > package-lock.json; exit 1');
    expect(ran.json().error).toMatchObject({ code: 'install_failed', message: expect.stringContaining('no such package') });
    expect(Object.keys(await project.files()).sort()).toEqual(['bin/npm', 'package.json']);
    expect(await project.textAt('package.json')).toBe(projects.fastify['package.json']);
  });

  test('that are removed after a failed build are announced', async () => {
    const { type, dependencies } = JSON.parse(projects.fastify['package.json']);
    const files = {
      'package.json': JSON.stringify({ type, dependencies, scripts: { build: 'exit 1' } }),
      'node_modules/x/index.js': '',
      'bin/npm': '#!/bin/sh\ncase "$*" in *build*) exit 1;; esac\n',
    };
    await project.put(files);
    execFileSync('chmod', ['755', join(project.directory, 'bin/npm')]);
    const env = { PATH: `${join(project.directory, 'bin')}:${process.env.PATH}` };
    const terminal = openTerminal(home, ['init', '--domain', 'localhost', '--yes'], { cwd: project.directory, env });
    try {
      expect(await terminal.exited).toBe(1);
      expect(terminal.bytes()).toContain('Rolling back: running npm');
      expect(terminal.text()).not.toContain('Rolling back');
      expect(await project.files()).toEqual(files);
    } finally {
      await terminal.close();
    }
  });

  test('that are installed are in the commands that undo it', async () => {
    await project.put(projects.fastify);
    execFileSync('git', ['init', '--quiet'], { cwd: project.directory });
    execFileSync('git', ['add', '--all'], { cwd: project.directory });
    const ran = await withTool('mkdir -p node_modules/x; echo "{}" > package-lock.json; echo "{ }" > package.json');
    expect(ran.json()).toMatchObject({ packages: ['fastify-plugin'], commands: [] });
    expect(ran.json().undo).toEqual({
      command: 'git restore -- package.json && git clean -fx -- auth.js .env .gitignore package-lock.json',
      notes: ['`npm i --no-audit --no-fund` then removes the packages.'],
    });
  });
});

describe('routes of the project', () => {
  test('at the login path are a conflict that names --login-path', async () => {
    await project.put({ ...projects.nextjs, 'app/login/page.tsx': 'export default function Page() {}\n' });
    const before = await project.everything();
    const ran = await init('--no-verify');
    expect([ran.exitCode, ran.json().error.code]).toEqual([6, 'conflict']);
    expect(ran.json().error.message).toContain('app/login/page.tsx already serves /login');
    expect(ran.json().error.hint).toContain('--login-path /sign-in');
    expect(await project.everything()).toEqual(before);
    const other = await init('--no-verify', '--login-path', '/sign-in');
    expect(other.exitCode).toBe(0);
    expect(other.json().next.join()).toContain('/sign-in');
  });

  test('a page of the project is kept, and the remark names the login path', async () => {
    await project.put({ 'public/index.html': '<h1>Shop</h1>' });
    const ran = await init('--no-verify', '--no-install', '--login-path', '/sign-in');
    expect(ran.exitCode).toBe(0);
    expect(ran.json().next).toContain('Your public/index.html is unchanged: link to `/sign-in` in it.');
  });

  test('at /account are kept', async () => {
    const page = 'export default function Page() {}\n';
    await project.put({ ...projects.nextjs, 'app/(shop)/account/page.tsx': page });
    const ran = await init('--no-verify');
    expect(ran.exitCode).toBe(0);
    expect(Object.keys(await project.files()).filter((path) => path.includes('account'))).toEqual(['app/(shop)/account/page.tsx']);
    expect(ran.json().next.join()).toContain('Your own page app/(shop)/account/page.tsx is kept');
  });
});

describe('a monorepo', () => {
  const files = {
    'package.json': '{"private":true,"workspaces":["apps/*"]}',
    'apps/api/package.json': projects.express['package.json'],
    'apps/web/package.json': projects.nextjs['package.json'],
  };

  test('is rejected without a terminal, with the list of its workspaces', async () => {
    await project.put(files);
    const ran = await init();
    expect([ran.exitCode, ran.json().error]).toEqual([
      3,
      {
        code: 'usage',
        message: 'This is a monorepo. Its workspaces are: apps/api (Express), apps/web (Next.js).',
        hint: 'Give one of them: `emailauth init apps/api`.',
      },
    ]);
    expect((await init('apps/web', '--no-verify')).json().framework).toBe('nextjs');
    expect(Object.keys(await project.files())).toContain('apps/web/.env');
  });

  test('asks for the workspace in a terminal', async () => {
    await project.put(files);
    const terminal = openTerminal(home, ['init', '--domain', 'localhost', '--no-verify', '--yes'], { cwd: project.directory });
    await terminal.waitFor('Which workspace is it for?');
    terminal.type(KEYS.enter);
    expect(await terminal.exited).toBe(0);
    expect(Object.keys(await project.files())).toContain('apps/api/auth.js');
    await terminal.close();
  });
});

test('an app of Flask in app.py is detected from its source and connected', async () => {
  await project.put({ 'app.py': 'from flask import Flask\n\napp = Flask(__name__)\n' });
  await writeFile(join(project.directory, 'notes.txt'), 'x');
  const ran = await init('--no-verify', '--no-install');
  expect(ran.json()).toMatchObject({ framework: 'flask' });
  expect(ran.json().files).toContainEqual({ path: 'app.py', action: 'changed' });
  expect(await project.textAt('app.py')).toMatch(/register_blueprint/);
});
