// A stage of its own: its service has the port of the README.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openScene, type Scene } from '../../browser/scene.ts';
import { type Home, openHome } from '../../cli/command.ts';
import { KEYS, openTerminal } from '../../cli/terminal.ts';
import { waitUntil } from '../../support/waiting.ts';
import { launch } from '../templates/site.ts';
import { type FreshProject, freshProject } from './fresh.ts';
import { projectsOf } from './projects.ts';
import { signIn } from './scenario.ts';

const SLOW = 600_000;

/** The port of the service after `npm start`. */
const SERVICE_PORT = 4400;
/** How a person starts each app, without PORT in the environment. */
const APPS = [
  { id: 'npm-express-cjs', command: ['node', 'app.js'] },
  { id: 'next-app-ts', command: ['npm', 'run', 'dev'] },
  { id: 'flask-app', command: ['flask', 'run'] },
];
const projects = projectsOf('express', 'nextjs', 'flask');

let scene: Scene;
let home: Home;
let commands: string[][];
beforeAll(async () => {
  await waitUntil(`the port ${SERVICE_PORT} is free`, 120_000, () => isFree(SERVICE_PORT));
  // As with `npm start`, emails stay in the built-in inbox.
  scene = await openScene({ SMTP_URL: '', PORT: String(SERVICE_PORT) });
  home = await openHome(scene.service.url);
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const [, block = ''] = /In the directory of your app[^\n]*\n\n```sh\n([\s\S]*?)```/.exec(readme) ?? [];
  commands = block
    .split('\n')
    .filter(Boolean)
    .map((line) => line.replace(/#.*/, '').trim().split(/ +/));
});
afterAll(async () => {
  await home?.close();
  await scene?.close();
});

test('the README adds and tries the sign-in', () => {
  expect(commands).toEqual([
    ['emailauth', 'init'],
    ['emailauth', 'try'],
  ]);
});

describe.each(APPS)('the commands of the README in the fresh project $id', ({ id, command }) => {
  test('lead to a sign-in in a browser without an edit', { timeout: SLOW }, async ({ skip }) => {
    const found = projects.find((project) => project.id === id);
    if (!found) throw new Error(`There is no project ${id}.`);
    const missing = found.recipe.missing?.();
    if (missing) skip(missing);
    // With the port of its source.
    const project = await freshProject(id, { ...found.recipe, fixedPort: [] });
    try {
      for (const [, ...args] of commands) await runInTerminal(project, args);
      const port = Number(new URL(await siteOf(project)).port);
      await waitUntil(`the port ${port} is free`, 120_000, () => isFree(port));
      const app = await launch(project.app, { id, command: ['env', '-u', 'PORT', ...command], env: project.environment }, port);
      try {
        await signIn(scene, app.url);
      } catch (error) {
        throw new Error(`${error}\nThe app wrote:\n${app.output()}`);
      } finally {
        await app.close();
      }
    } finally {
      await project.remove();
    }
  });
});

/** Runs `emailauth` as a person does, who accepts every suggestion. */
async function runInTerminal(project: FreshProject, args: string[]): Promise<void> {
  // Without CI, which means that nobody answers.
  const { CI: _, ...environment } = project.environment;
  const terminal = openTerminal(home, args, { cwd: project.app, env: { ...environment, HOME: home.directory }, rows: 60 });
  try {
    if (args[0] === 'init') {
      await terminal.waitFor('Which domain is it for?', 60_000);
      terminal.type(KEYS.enter);
      await terminal.waitFor(/Write (?:this|these) /, 120_000);
      terminal.type('y');
    }
    expect(await terminal.exited, terminal.text()).toBe(0);
  } finally {
    await terminal.close();
  }
}

/** Returns the URL of the website that `emailauth init` has written. */
async function siteOf({ app }: FreshProject): Promise<string> {
  const names = ['.env', '.env.local'];
  const texts = await Promise.all(names.map((name) => readFile(join(app, name), 'utf8').catch(() => '')));
  const [, site = ''] = /^SITE_URL=(\S+)/m.exec(texts.join('\n')) ?? [];
  return site.replaceAll('"', '');
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
