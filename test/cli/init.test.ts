import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { frameworks } from '../../templates/catalog.ts';
import { withVariant } from '../../templates/framework.ts';
import { readSources } from '../../templates/read.ts';
import { render } from '../../templates/render.ts';
import { recipes } from '../integrations/templates/recipes/all.ts';
import { startAppIn } from '../integrations/templates/site.ts';
import { useService } from '../support/harness.ts';
import { freshAddress, freshDomain, openLink, requestEmail } from '../support/sign-ins.ts';
import { freePort } from '../support/waiting.ts';
import { type Home, openHome, type Ran } from './command.ts';
import { openProject, type Project, projects } from './project.ts';

const { stage, service } = await useService();
let home: Home;
beforeAll(async () => {
  home = await openHome(service.url);
});
afterAll(async () => {
  await home?.close();
  await stage?.close();
});

let project: Project;
beforeEach(async () => {
  project = await openProject();
});
afterEach(() => project.remove());

const run = (...args: string[]): Promise<Ran> => home.run(['init', ...args], { cwd: project.directory });
/** Without the packages and the build of the project; test/cli/init-verify.test.ts has those. */
const init = (...args: string[]): Promise<Ran> => run(...args, '--no-install', '--no-verify');
const git = (...args: string[]) => execFileSync('git', ['-C', project.directory, ...args], { stdio: 'pipe' });

describe('each framework', () => {
  test('of the catalog has a test project', () => {
    expect(Object.keys(projects).sort()).toEqual(frameworks.map(({ id }) => id).sort());
  });

  test.each(frameworks)('$id is detected, and the files of its template are written', async (framework) => {
    await project.put(projects[framework.id]);
    git('init', '--quiet');
    git('add', '--all');
    const domain = freshDomain();
    const flags = ['--callback', '/sign-in/done', '--login-path', '/sign-in', '--language', 'lt', '--no-install', '--no-verify'];
    const ran = await init('--domain', domain, ...flags, '--yes', '--json');
    expect([ran.exitCode, ran.json().error]).toEqual([0, undefined]);
    const { framework: recognised, variant, files, env, packages, commands, verified, next, undo } = ran.json();
    expect(recognised).toBe(framework.id);
    expect(verified).toBeNull();

    const filling = {
      ...({ origin: service.url, domain, callbackPath: '/sign-in/done', loginPath: '/sign-in', language: 'lt' } as const),
      ...{ layout: null, applied: true },
    };
    const suitable = withVariant(
      framework,
      framework.variants?.find(({ id }) => id === variant),
    );
    const rendered = render(suitable, await readSources(suitable), filling);
    const written = [...rendered.files.map(({ path }) => path), ...(rendered.env.length > 0 ? ['.env', '.gitignore'] : [])];
    expect(files.filter(({ action }: { action: string }) => action === 'written')).toEqual(
      written.map((path) => ({ path, action: 'written' })),
    );
    for (const { path, contents } of rendered.files) expect(await project.textAt(path)).toBe(contents);
    expect(env).toEqual(rendered.env.map(({ name }) => name));
    if (framework.ownSettings) expect(Object.keys(await project.everything())).not.toContain('.env');
    else {
      const lines = (await project.textAt('.env')).trimEnd().split('\n');
      expect(lines).toEqual(
        rendered.env.map(({ name, value }) => (value ? `${name}=${value}` : expect.stringMatching(`^${name}=[0-9a-f]{64}$`))),
      );
      expect((await stat(join(project.directory, '.env'))).mode & 0o777).toBe(0o600);
    }
    // What is not installed is left to the person.
    for (const name of packages) expect(commands.join('\n')).toContain(name);
    for (const command of [...commands, ...rendered.commands]) expect(next).toContain(`Run \`${command}\`.`);
    for (const step of rendered.nextSteps) expect(next).toContain(step);
    if (suitable.loadEnv) expect(next).toContain(suitable.loadEnv);
    expect(next.join()).toContain(`emailauth register ${domain}`);
    // Existing files are kept, or connected with the new ones.
    const changed = files.filter(({ action }: { action: string }) => action === 'changed').map(({ path }: { path: string }) => path);
    for (const [path, text] of Object.entries(projects[framework.id])) {
      if (!changed.includes(path)) expect(await project.textAt(path)).toBe(text);
    }

    execFileSync('sh', ['-c', undo.command], { cwd: project.directory, stdio: 'pipe' });
    expect(await project.files()).toEqual(projects[framework.id]);
  });
});

// Frameworks with packages or a build are tested by `npm run test:templates`.
const light = recipes.filter(
  (recipe) => !recipe.packages && !recipe.build && !recipe.variant && recipe.id !== 'vite' && recipe.available(),
);

describe.each(light)('a project with $id, from the directory that init wrote', (recipe) => {
  test('signs a visitor in', async () => {
    const port = await freePort();
    // The developer sets the URL of the site.
    await project.put({ ...recipe.around, ...projects[recipe.id], '.env': `SITE_URL="http://localhost:${port}"` });
    const ran = await init('--domain', 'localhost', '--no-verify', '--yes', '--json');
    expect([ran.exitCode, ran.json().framework]).toEqual([0, recipe.id]);
    const command = ['sh', '-c', 'set -a; . ./.env; set +a; exec "$@"', 'sh', ...recipe.command];
    const site = await startAppIn(project.directory, { ...recipe, around: {}, command }, port);
    try {
      const [visitor, browser, email] = [site.client(), service.client(), freshAddress()];
      const page = new URL(String((await visitor.get('/login')).headers.location));
      expect(page.origin).toBe(service.url);
      await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
      const callback = await openLink(browser, await stage.mailbox.waitFor(email));
      expect(callback.startsWith(`${site.url}/auth/callback?`)).toBe(true);
      expect(String((await visitor.get(callback)).headers.location)).toMatch(/\/account$/);
      const account = await visitor.get('/account');
      expect(account.text).toContain(`Signed in as ${email}`);
    } finally {
      await site.close();
    }
  });
});

describe('the target directory', () => {
  test('is the src directory of a Next.js project that has one, without the step about it', async () => {
    await project.put({ ...projects.nextjs, 'src/app/page.tsx': '' });
    await rm(join(project.directory, 'app'), { recursive: true });
    const ran = await init('--domain', 'localhost', '--yes', '--json');
    const paths = ran.json().files.map(({ path }: { path: string }) => path);
    expect(paths).toEqual([
      'src/lib/auth.js',
      'src/app/login/route.js',
      'src/app/auth/callback/route.js',
      'src/app/account/page.js',
      '.env',
      '.gitignore',
    ]);
    for (const path of paths) expect(await project.textAt(path)).not.toBe('');
    expect(ran.json().next.join()).not.toContain('src directory');
  });

  test('may contain spaces and non-ASCII letters in its path', async () => {
    await project.put({ 'mana lapa ū/package.json': projects.express['package.json'] });
    const ran = await init('mana lapa ū', '--domain', 'bücher.example', '--yes', '--json');
    expect(ran.exitCode).toBe(0);
    expect(await project.textAt('mana lapa ū/.env')).toContain('SITE_URL=https://xn--bcher-kva.example\n');
  });

  test('is the given one only in a monorepo', async () => {
    await project.put({
      'package.json': '{"dependencies":{"next":"16.0.0"}}',
      'packages/api/package.json': projects.express['package.json'],
    });
    expect((await init('packages/api', '--domain', 'localhost', '--yes', '--json')).json().framework).toBe('express');
    expect(Object.keys(await project.everything())).not.toContain('lib');
  });

  test('may contain symlinks within the project, but not out of it', async () => {
    await project.put({ ...projects.hono, 'packages/src/index.ts': '' });
    await symlink('packages/src', join(project.directory, 'src'));
    expect((await init('--domain', 'localhost', '--yes')).exitCode).toBe(0);
    expect(await project.textAt('packages/src/auth.ts')).toContain('Hono');

    const outside = await mkdtemp(join(tmpdir(), 'emailauth-outside-'));
    for (const [path, target] of [
      ['src', outside],
      ['.env', join(outside, '.env')],
    ]) {
      await writeFile(join(outside, '.env'), 'A=1\n');
      await rm(join(project.directory, path), { recursive: true, force: true });
      await symlink(target, join(project.directory, path));
      for (const flag of ['--force', '--dry-run']) {
        const ran = await init('--domain', 'localhost', '--yes', flag);
        expect([ran.exitCode, ran.stdout]).toEqual([6, '']);
        expect(ran.stderr).toContain(`${path} is a symbolic link out of the project.`);
      }
      expect([await readdir(outside), await readFile(join(outside, '.env'), 'utf8')]).toEqual([['.env'], 'A=1\n']);
      await rm(join(project.directory, path));
    }
    await rm(outside, { recursive: true });
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['a directory in the place of a file', { 'auth.js/x': '' }, /auth\.js is a directory/],
    ['a directory in the place of .env', { '.env/x': '' }, /\.env is a directory/],
  ])('is rejected without writing for %s', async (_, files, message) => {
    await project.put({ ...projects.express, ...files });
    const before = await project.everything();
    const ran = await init('--domain', 'localhost', '--yes', '--force');
    expect([ran.exitCode, ran.stdout]).toEqual([6, '']);
    expect(ran.stderr).toMatch(message);
    expect(await project.everything()).toEqual(before);
  });

  test.skipIf(process.getuid?.() === 0)('is reported when it is not writable', async () => {
    await project.put(projects.express);
    execFileSync('chmod', ['555', project.directory]);
    const ran = await init('--domain', 'localhost', '--yes');
    execFileSync('chmod', ['755', project.directory]);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain('auth.js cannot be written: no permission to write to');
    expect(await project.everything()).toEqual(projects.express);
  });
});

describe('existing files', () => {
  test('with the same contents are kept, so a second run has nothing to write', async () => {
    await project.put(projects.express);
    await init('--domain', 'localhost', '--yes');
    const before = await project.everything();
    const again = await init('--domain', 'localhost');
    expect([again.exitCode, again.stderr]).toEqual([0, '']);
    expect(again.stdout).toBe('The sign-in with Express for localhost is complete; there is nothing to write.');
    const actions = (await init('--domain', 'localhost', '--json')).json().files.map(({ action }: { action: string }) => action);
    expect(actions).toEqual(['unchanged', 'unchanged']);
    expect(await project.everything()).toEqual(before);
    // Line endings of a checkout on Windows.
    await project.put({ 'auth.js': (await project.textAt('auth.js')).replaceAll('\n', '\r\n') });
    expect((await init('--domain', 'localhost')).exitCode).toBe(0);
  });

  test('with other contents are a conflict, and --force overwrites them', async () => {
    await project.put({ ...projects.sveltekit, 'src/routes/login/+server.js': 'mine\n', 'src/lib/server/auth.js': 'mine\n' });
    const before = await project.everything();
    for (const flags of [['--yes'], ['--dry-run'], []]) {
      const ran = await init('--domain', 'localhost', ...flags);
      expect([ran.exitCode, ran.stdout]).toEqual([6, '']);
      expect(ran.stderr).toContain(
        'These files exist with other contents: src/lib/server/auth.js, src/routes/login/+server.js. Nothing was',
      );
      expect(ran.stderr).toContain('-mine');
      expect(ran.stderr).toContain('--force');
    }
    expect((await init('--domain', 'localhost', '--yes', '--json')).json().error).toMatchObject({ code: 'conflict' });
    expect(await project.everything()).toEqual(before);

    const forced = await init('--domain', 'localhost', '--yes', '--force', '--json');
    const actions = Object.fromEntries(forced.json().files.map(({ path, action }: { path: string; action: string }) => [path, action]));
    expect(actions).toMatchObject({
      'src/lib/server/auth.js': 'overwritten',
      'src/routes/account/+page.svelte': 'written',
      '.env': 'written',
    });
    expect(await project.textAt('src/lib/server/auth.js')).toContain('EMAILAUTH_URL');
  });

  test('are kept, even with --force, where the template has only an example page', async () => {
    await project.put({ 'public/index.html': '<h1>Mine</h1>' });
    const ran = await init('--domain', 'localhost', '--yes', '--force', '--json');
    expect(ran.json().files).toContainEqual({ path: 'public/index.html', action: 'unchanged' });
    expect(ran.json().next.join()).toContain('Your public/index.html is unchanged');
    expect(await project.textAt('public/index.html')).toBe('<h1>Mine</h1>');
    expect(await project.textAt('worker.js')).toContain('login_state');
  });
});

describe('.env and git', () => {
  test('keeps .env byte for byte, reports differences and prints no values', async () => {
    const own = '# mine\r\nexport SITE_URL=http://localhost:5555 # here\r\nKEY="hidden-value"';
    await project.put({ ...projects.express, '.env': own });
    const ran = await init('--domain', 'localhost', '--yes');
    const text = await project.textAt('.env');
    expect(text.startsWith(`${own}\r\nSESSION_SECRET=`)).toBe(true);
    expect(text.endsWith(`\r\nEMAILAUTH_URL=${service.url}\r\n`)).toBe(true);
    const secret = /SESSION_SECRET=(\w+)/.exec(text)?.[1] ?? '';
    expect(secret).toMatch(/^[0-9a-f]{64}$/);
    for (const output of [ran.stdout, ran.stderr]) for (const value of [secret, 'hidden-value']) expect(output).not.toContain(value);
    expect(ran.stdout).toContain('has another value for SITE_URL than http://localhost:3000');
    expect(ran.stdout).toContain('http://localhost:5555/login');
  });

  test('writes nothing when the app has a secret that is too short for the sign-in, and says so', async () => {
    const files = { ...projects.express, '.env': 'SESSION_SECRET=keyboard-cat\n' };
    await project.put(files);
    for (const flags of [['--yes'], ['--yes', '--force'], ['--dry-run']]) {
      const ran = await init('--domain', 'localhost', ...flags);
      expect(ran.exitCode).toBe(6);
      expect(ran.stderr).toContain('SESSION_SECRET in `.env` has 12 characters; the sign-in needs at least 32. Nothing was written.');
      expect(ran.stderr).toContain('openssl rand -hex 32');
      expect(ran.stderr).not.toContain('keyboard-cat');
      expect(await project.files()).toEqual(files);
    }
  });

  test('adds .env to .gitignore in a work tree', async () => {
    git('init', '--quiet');
    await project.put({ ...projects.express, '.gitignore': 'node_modules' });
    git('add', '--all');
    const ran = await init('--domain', 'localhost', '--yes', '--json');
    expect(ran.json().files).toContainEqual({ path: '.gitignore', action: 'written' });
    expect(await project.textAt('.gitignore')).toBe('node_modules\n.env\n');
    expect(git('status', '--porcelain', '--untracked-files=all').toString()).not.toContain('.env');
    expect((await init('--domain', 'localhost', '--json')).json().files).not.toContainEqual(
      expect.objectContaining({ path: '.gitignore' }),
    );
  });

  test('adds it without git as well', async () => {
    git('init', '--quiet');
    await project.put(projects.express);
    const withoutGit = () =>
      home.run(['init', '--domain', 'localhost', '--yes', '--json'], { cwd: project.directory, env: { PATH: '/nowhere' } });
    expect((await withoutGit()).exitCode).toBe(0);
    expect(await project.textAt('.gitignore')).toBe('.env\n');
    expect((await withoutGit()).json().files).toHaveLength(2);
  });

  test('accepts a rule of a parent directory', async () => {
    git('init', '--quiet');
    await project.put({ '.gitignore': '.env*\n', 'site/package.json': projects.express['package.json'] });
    await init('site', '--domain', 'localhost', '--yes');
    expect(Object.keys(await project.everything())).not.toContain('site/.gitignore');
  });

  test('reports a .env that git tracks', async () => {
    git('init', '--quiet');
    await project.put({ ...projects.express, '.env': 'A=1\n' });
    git('add', '.env');
    const ran = await init('--domain', 'localhost', '--yes');
    expect(ran.stdout).toContain('git rm --cached .env');
    expect(Object.keys(await project.everything())).not.toContain('.gitignore');
  });
});
