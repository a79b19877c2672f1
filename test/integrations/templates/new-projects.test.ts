// A stage of its own: its websites run outside of the worker.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { frameworks } from '../../../templates/catalog.ts';
import { type Framework, forNewProject } from '../../../templates/framework.ts';
import { readSources } from '../../../templates/read.ts';
import { render } from '../../../templates/render.ts';
import { violationsIn } from '../../browser/axe.ts';
import { requestEmail as askForMailInPage, openScene, type Scene } from '../../browser/scene.ts';
import { freshAddress } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { runs } from './recipe.ts';
import { launch, type RunningSite, SESSION_SECRET } from './site.ts';

/** Fetching packages takes its time on a slow network. */
const MAKING = 540_000;

const run = promisify(execFile);
const here = tmpdir();

/** Whether this machine has the programs that the commands of a new project call, and reaches the registry of its packages. */
const canMake: Record<Framework['language'], () => boolean> = {
  JavaScript: () => true,
  TypeScript: () => true,
  Python: () => runs('python3', '-m', 'pip', 'download', '--no-deps', '--quiet', '--dest', join(here, 'emailauth-pip'), 'flask'),
  Go: () => runs('go', 'version'),
  PHP: () => runs('php', '-v'),
  Ruby: () => runs('bundle', '-v') && runs('gem', 'specification', '--remote', 'sinatra', 'name'),
};
const possible = Object.fromEntries(Object.entries(canMake).map(([language, probe]) => [language, probe()]));

const newProjects = frameworks.filter(({ newProject }) => newProject);

let scene: Scene;
beforeAll(async () => {
  scene = await openScene();
});
afterAll(() => scene?.close());

describe.each(newProjects.filter(({ language }) => !possible[language]))('a new project of $name', ({ language }) => {
  test('is made on this machine', ({ skip }) => skip(`It needs ${language} and its registry of packages.`));
});

describe.each(newProjects.filter(({ language }) => possible[language]))('a new project of $name', (framework) => {
  let directory: string;
  let site: RunningSite;

  // What the page says, step by step: the commands, the files, the settings, the start.
  beforeAll(async () => {
    directory = await mkdtemp(join(here, 'emailauth-new-'));
    const port = await freePort();
    const project = forNewProject(framework);
    const {
      commands,
      files,
      env,
      start = [],
    } = render(project, await readSources(project), {
      origin: scene.service.url,
      domain: 'localhost',
      port,
    });
    await run('sh', ['-ec', commands.join('\n')], { cwd: directory, maxBuffer: 2 ** 26 });
    const settings = env.map(({ name, value }) => `${name}=${name === 'SESSION_SECRET' ? SESSION_SECRET : value}\n`).join('');
    for (const { path, contents } of [...files, { path: '.env', contents: settings }]) {
      await mkdir(join(directory, dirname(path)), { recursive: true });
      await writeFile(join(directory, path), contents);
    }
    // The shell in which a person starts the app is the one of the commands.
    const activation = commands.filter((command) => command.startsWith('. '));
    site = await launch(directory, { id: framework.id, command: ['sh', '-ec', [...activation, ...start].join('\n')] }, port);
  }, MAKING);
  afterAll(async () => {
    await site?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('signs a visitor in and out, with pages that fit a phone', async () => {
    const [context, email] = [await scene.newBrowser(), freshAddress()];
    const page = await context.newPage();
    await page.setViewportSize({ width: 320, height: 640 });
    const expectToFit = async () => {
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violationsIn(page, { runOnly: ['wcag2a', 'wcag2aa', 'wcag22aa'] })).toEqual([]);
      }
    };
    await page.goto(site.url);
    await expectToFit();
    await page.getByRole('link', { name: 'Login with Email' }).click();
    await page.waitForURL(`${scene.service.url}/auth?*`);
    await askForMailInPage(page, email);
    await page.goto((await scene.stage.mailbox.waitFor(email)).link);
    await page.waitForURL(`${site.url}/account`);
    await page.getByText(`Signed in as ${email}`).waitFor();
    await expectToFit();
    const button = await page.getByRole('button', { name: 'Log out' }).boundingBox();
    expect(button?.height).toBeGreaterThanOrEqual(44);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${site.url}/`);
    await page.goto(`${site.url}/account`);
    await page.waitForURL(`${scene.service.url}/auth?*`);
  });
});
