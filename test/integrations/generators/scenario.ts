import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openScene, requestEmail, type Scene } from '../../browser/scene.ts';
import { type Home, openHome } from '../../cli/command.ts';
import { entry } from '../../support/program.ts';
import { freshAddress } from '../../support/sign-ins.ts';
import { waitUntil } from '../../support/waiting.ts';
import { launch } from '../templates/site.ts';
import { contentsOf, type FreshProject, freshProject, runIn } from './fresh.ts';
import type { Generated } from './projects.ts';
import { hasNewestNode, openTools } from './tools.ts';

/** Generators, installs and builds take their time on a slow machine. */
const SLOW = 600_000;

/** What `emailauth` must do in every fresh project. */
export function describeProjects(projects: readonly Generated[]) {
  let scene: Scene;
  let home: Home;
  beforeAll(async () => {
    // Emails stay in the built-in inbox, as with `npm start`.
    scene = await openScene({ SMTP_URL: '' });
    home = await openHome(scene.service.url);
  });
  afterAll(async () => {
    await home?.close();
    await scene?.close();
  });

  describe.each(projects)('the fresh project $id', ({ framework, recipe, id }) => {
    const missing =
      recipe.newestNode && !hasNewestNode() ? 'It needs the newest Node.js, which npm has for Linux only.' : (recipe.missing?.() ?? null);
    if (missing) {
      console.warn(`\n!! The project ${id} is skipped: ${missing}\n`);
      test('runs on this machine', ({ skip }) => skip(missing));
      return;
    }

    let project: FreshProject;
    let before: Record<string, string>;
    let undo: { command: string; notes: string[] } | null = null;
    beforeAll(async () => {
      project = await freshProject(id, recipe);
      await putIntoGit(project);
      before = await filesOf(project.directory);
    }, SLOW);
    afterAll(() => project?.remove());

    /** Runs `emailauth` in the app as an agent does: without a terminal. */
    async function emailauth(...args: string[]) {
      const { exitCode, stdout, stderr } = await execa((await openTools()).node(recipe), [entry, ...args], {
        cwd: project.app,
        env: { ...home.env, ...project.environment, HOME: home.directory },
        extendEnv: false,
        reject: false,
        stdin: 'ignore',
        timeout: SLOW,
      });
      return { exitCode, stdout, output: `${stdout}\n${stderr}` };
    }

    test('gets the sign-in by `emailauth init`', { timeout: SLOW }, async () => {
      const { exitCode, stdout, output } = await emailauth('init', '--yes', '--json', '--domain', 'localhost');
      expect(exitCode, output).toBe(0);
      undo = JSON.parse(stdout).undo;
      // `verified` is the command that proved it.
      expect(JSON.parse(stdout)).toMatchObject({ framework, verified: expect.any(String) });
    });

    test.runIf(recipe.build)('still builds', { timeout: SLOW }, async ({ skip }) => {
      if (!undo) skip('init failed');
      await runIn(project.app, project.environment, recipe.build ?? []);
    });

    test('passes every attack of `emailauth try`', { timeout: SLOW }, async ({ skip }) => {
      if (!undo) skip('init failed');
      const { exitCode, stdout, output } = await emailauth('try', '--json');
      expect(exitCode, output).toBe(0);
      const { checks } = JSON.parse(stdout) as { checks: { ok: boolean | null }[] };
      expect(checks.filter(({ ok }) => ok !== true)).toEqual([]);
    });

    test.runIf(recipe.browser)('signs a visitor in and out in a browser', { timeout: SLOW }, async ({ skip }) => {
      if (!undo) skip('init failed');
      const start = { id, command: [...recipe.start], env: startEnvironment(project) };
      const app = await launch(project.app, start, project.port);
      try {
        await signIn(scene, app.url);
      } catch (error) {
        throw new Error(`${error}\nThe app wrote:\n${app.output()}`);
      } finally {
        await app.close();
      }
    });

    test('is as before after the commands that `emailauth init` prints', { timeout: SLOW }, async ({ skip }) => {
      if (!undo) skip('init failed');
      const { command, notes } = undo as { command: string; notes: string[] };
      await runIn(project.app, project.environment, ['sh', '-c', command]);
      const install = notes.flatMap((note) => /^`(.+)` then removes the packages\.$/.exec(note)?.[1] ?? []);
      for (const line of install) await runIn(project.app, project.environment, ['sh', '-c', line]);
      expect(await filesOf(project.directory)).toEqual(before);
    });
  });
}

/** Commits a project as its person would, without what builds and installations make. */
async function putIntoGit({ directory, environment }: FreshProject): Promise<void> {
  const git = (...args: string[]) =>
    runIn(directory, environment, ['git', '-c', 'user.name=Ann', '-c', 'user.email=ann@example.com', ...args]);
  await git('init', '--quiet');
  await appendFile(join(directory, '.git/info/exclude'), ['node_modules', '__pycache__', '*.sqlite3', ''].join('\n'));
  await git('add', '--all');
  await git('commit', '--quiet', '--allow-empty', '--message', 'before');
}

/** Returns the contents of the files of a project, without those that git does not hold: `.env`, and the types that Next.js writes at each start. */
const filesOf = async (directory: string) =>
  Object.fromEntries(
    Object.entries(await contentsOf(directory)).filter(
      ([path, is]) => is !== 'directory' && !/(?:^|\/)(?:\.env|next-env\.d\.ts)$/.test(path),
    ),
  );

const startEnvironment = ({ environment, port }: FreshProject) => ({ ...environment, SITE_URL: `http://localhost:${port}` });

/** Signs a visitor in at an app with the link of the inbox, and out again. */
export async function signIn({ service, newBrowser }: Scene, url: string): Promise<void> {
  const [context, email, inbox] = [await newBrowser(), freshAddress(), service.client()];
  const page = await context.newPage();
  await page.goto(`${url}/login`);
  await page.waitForURL(`${service.url}/auth?*`);
  await requestEmail(page, email);
  let link = '';
  await waitUntil('the email is in the inbox', 30_000, async () => {
    link = (await inbox.get(`/dev/inbox/messages.json?to=${email}`)).json[0]?.link ?? '';
    return link !== '';
  });
  await page.goto(link);
  await page.waitForURL(`${url}/account`);
  await page.getByText(`Signed in as ${email}`).waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(`${url}/`);
  await page.goto(`${url}/account`);
  await page.waitForURL(`${service.url}/auth?*`);
  await context.close();
}
