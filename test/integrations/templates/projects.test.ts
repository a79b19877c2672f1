// A stage of its own: its websites run outside of the worker.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEntries, readDetectionFiles } from '../../../cli/init/project.ts';
import { connect } from '../../../cli/init/wiring.ts';
import { detectFrameworks, detectLayout } from '../../../templates/detect.ts';
import { readSources } from '../../../templates/read.ts';
import { render, renderWiring } from '../../../templates/render.ts';
import { openStage, type Service, type Stage } from '../../support/harness.ts';
import { freshAddress, openLink, requestEmail } from '../../support/sign-ins.ts';
import { freePort } from '../../support/waiting.ts';
import { type OtherProject, otherProjects } from '../generators/others.ts';
import { missingPackages } from './debian.ts';
import { recipes } from './recipes/all.ts';
import { startsOver } from './safety.ts';
import { launch, type RunningSite } from './site.ts';

const run = promisify(execFile);
const MAKING = 240_000;

let stage: Stage;
let service: Service;
beforeAll(async () => {
  stage = await openStage();
  service = await stage.start();
});
afterAll(() => stage?.close());

const isAvailable = ({ framework }: OtherProject) => recipes.some(({ id, available }) => id === framework && available());

describe.each(otherProjects.filter((project) => !isAvailable(project)))('a fresh project: $id', ({ framework }) => {
  test('runs on this machine', ({ skip }) => skip(`It needs ${missingPackages(framework)}.`));
});

describe.each(otherProjects.filter(isAvailable))('a fresh project: $id', (project) => {
  let directory: string;
  let site: RunningSite;

  /** Adds the integration to the project. @returns the files that it could not connect */
  async function integrate(port: number): Promise<string[]> {
    const [framework, ...others] = detectFrameworks(readDetectionFiles(directory));
    expect([framework?.id, others]).toEqual([project.framework, []]);
    const layout = detectLayout(framework, (path) => existsSync(join(directory, path)));
    const values = { origin: service.url, domain: 'localhost', layout };
    const { files, env } = render(framework, await readSources(framework), values);
    const own = { SESSION_SECRET: 'x'.repeat(64), SITE_URL: `http://localhost:${port}` } as Record<string, string>;
    const dotEnv = env.map(({ name, value }) => `${name}=${own[name] ?? value}\n`).join('');
    for (const { path, contents } of [...files, { path: '.env', contents: dotEnv }]) {
      await mkdir(join(directory, dirname(path)), { recursive: true });
      await writeFile(join(directory, path), contents);
    }
    const read = (path: string) => (existsSync(join(directory, path)) ? readFileSync(join(directory, path), 'utf8') : null);
    const left: string[] = [];
    for (const wiring of renderWiring(framework, values)) {
      const { path, text } = connect(wiring, { root: directory, entries: findEntries(directory, null), read });
      if (path) await writeFile(join(directory, path), text);
      else left.push(wiring.instead);
    }
    return left;
  }

  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'emailauth-fresh-')));
    await project.make(directory);
    const port = await freePort();
    expect(await integrate(port)).toEqual([]);
    const [program, ...args] = project.check;
    const env = { ...process.env, ...project.env };
    await run(program, args, { cwd: directory, env });
    // Rails has no file `.env`.
    const loaded = project.framework === 'rails' ? { SITE_URL: `http://localhost:${port}` } : undefined;
    const recipe = { id: project.id, command: [...project.start], env: { ...project.env, ...loaded } };
    site = await launch(directory, recipe, port, project.page);
  }, MAKING);
  afterAll(async () => {
    await site?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('signs a visitor in without a manual edit, and keeps its own pages', async () => {
    const [visitor, browser, email] = [site.client(), service.client(), freshAddress()];
    const login = String((await visitor.get('/account')).headers.location);
    const page = new URL(String((await visitor.get(login)).headers.location));
    expect(page.origin).toBe(service.url);
    await requestEmail(browser, email, page.searchParams.get('forward_url') ?? '');
    const callback = await openLink(browser, await stage.mailbox.waitFor(email));
    expect(new URL(String((await visitor.get(callback)).headers.location), site.url).href).toBe(`${site.url}/account`);
    expect((await visitor.get('/account')).text).toContain(`Signed in as ${email}`);
    expect(startsOver(await visitor.get(callback))).toBe(true);
    expect((await visitor.get(project.page)).status).toBe(200);
  });
});
