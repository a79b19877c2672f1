import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome } from '../cli/command.ts';
import { KEYS, openTerminal } from '../cli/terminal.ts';
import { openScene, type Scene } from '../journeys/scene.ts';
import { launch } from '../templates/site.ts';
import { waitUntil } from '../waiting.ts';
import { type FreshProject, freshProject } from './fresh.ts';
import { projectsOf } from './projects.ts';
import { signIn } from './scenario.ts';

const SLOW = 600_000;

/** How a person starts each app, and the port that it then has; null where its code has one. */
const APPS = [
  { id: 'npm-express-cjs', command: ['node', 'app.js'], port: null },
  { id: 'next-app-ts', command: ['npm', 'run', 'dev'], port: 3000 },
  { id: 'flask-app', command: ['flask', 'run'], port: 5000 },
];
const projects = projectsOf('express', 'nextjs', 'flask');

let scene: Scene;
let home: Home;
let commands: string[][];
beforeAll(async () => {
  // As with `npm start`, emails stay in the built-in inbox.
  scene = await openScene({ SMTP_URL: '' });
  home = await openHome(scene.service.url);
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
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

describe.each(APPS)('the commands of the README in the fresh project $id', ({ id, command, port }) => {
  test('lead to a sign-in in a browser without an edit', { timeout: SLOW }, async ({ skip }) => {
    const found = projects.find((project) => project.id === id);
    if (!found) throw new Error(`There is no project ${id}.`);
    const missing = found.recipe.missing?.();
    if (missing) skip(missing);
    const project = await freshProject(id, found.recipe);
    try {
      for (const [, ...args] of commands) await runInTerminal(project, args);
      const listensOn = port ?? project.port;
      await waitUntil(`the port ${listensOn} is free`, 120_000, () => isFree(listensOn));
      const app = await launch(project.app, { id, command, env: { ...project.environment, PORT: String(listensOn) } }, listensOn);
      try {
        expect(await siteOf(project)).toBe(app.url);
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
async function siteOf({ app }: FreshProject): Promise<string | undefined> {
  const names = ['.env', '.env.local'];
  const texts = await Promise.all(names.map((name) => readFile(join(app, name), 'utf8').catch(() => '')));
  return /^SITE_URL=(\S+)/m.exec(texts.join('\n'))?.[1].replaceAll('"', '');
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });
