import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { frameworkOf } from '../../../templates/catalog.ts';
import { type Framework, withVariant } from '../../../templates/framework.ts';
import { readSources } from '../../../templates/read.ts';
import { render } from '../../../templates/render.ts';
import { Client } from '../../support/client.ts';
import { installPinned } from '../../support/pinned-packages.ts';
import { freePort, waitUntil } from '../../support/waiting.ts';
import type { Recipe } from './recipe.ts';

const run = promisify(execFile);

/** The secret of every site. */
export const SESSION_SECRET = 'x'.repeat(64);

/** A site that runs. */
export type RunningSite = {
  url: string;
  client(): Client;
  /** Everything it wrote to stdout and stderr. */
  output(): string;
  close(): Promise<void>;
};

/** A site made of nothing but a template and the few lines around it; built, where its framework builds. */
export type Site = {
  directory: string;
  /** Runs it, with these changes to its environment. @param isUp whether its first page, of this status, shows that it runs */
  start(env?: Record<string, string>, isUp?: (status: number) => boolean): Promise<RunningSite>;
  remove(): Promise<void>;
};

const environment = (recipe: Pick<Recipe, 'env'>, port: number): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  PORT: String(port),
  ...Object.fromEntries(Object.entries(recipe.env ?? {}).map(([name, value]) => [name, value.replaceAll('{port}', String(port))])),
});

/**
 * Renders a template for localhost, to sign in with this service, into a directory of its own.
 * @throws Error with what the build wrote, or npm
 */
export async function makeSite(recipe: Recipe, serviceUrl: string): Promise<Site> {
  const framework = frameworkFor(recipe);
  // Below the directory of its packages, as in a repository of several: bundlers refuse links that lead out of a project.
  const packages = recipe.packages && join(import.meta.dirname, 'packages', recipe.id);
  const place = packages ? await installPinned(packages, `templates/${recipe.id}`) : tmpdir();
  const directory = await mkdtemp(join(place, `emailauth-${recipe.id}-`));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const { files } = render(framework, await readSources(framework), { origin: serviceUrl, domain: 'localhost' });
    const manifest = packages && { 'package.json': await readFile(join(packages, 'package.json'), 'utf8') };
    const around = { ...manifest, ...recipe.around };
    // The template's files come last: what `init` writes replaces a starter's page of that name.
    await write(directory, { ...around, ...Object.fromEntries(files.map(({ path, contents }) => [path, contents])) });
    if (!recipe.packages) await linkModules(directory);
    if (recipe.build) await build(recipe, directory);
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    directory,
    async start(env = {}, isUp = undefined) {
      const port = await freePort();
      const own = { SITE_URL: `http://localhost:${port}`, SESSION_SECRET };
      return launch(directory, { ...recipe, env: { ...own, ...recipe.env, ...env } }, port, '/', isUp);
    },
    remove,
  };
}

/** Runs a site whose template lies in a directory already, with this repository's packages; the directory is removed once it is closed. */
export async function startAppIn(directory: string, recipe: Recipe, port: number): Promise<RunningSite> {
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await write(directory, recipe.around);
    await linkModules(directory);
    const site = await launch(directory, recipe, port);
    return { ...site, close: () => site.close().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

function frameworkFor({ id, variant: wanted }: Recipe): Framework {
  const framework = frameworkOf(id);
  const variant = framework?.variants?.find((each) => each.id === wanted);
  if (!framework || (wanted && !variant)) throw new Error(`There is no framework ${id} with a variant ${wanted}.`);
  return withVariant(framework, variant);
}

async function write(directory: string, files: Record<string, string>) {
  for (const [path, contents] of Object.entries(files)) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), contents);
  }
}

const linkModules = (directory: string) => symlink(join(import.meta.dirname, '../../../node_modules'), join(directory, 'node_modules'));

async function build(recipe: Recipe, directory: string) {
  const [program, ...args] = recipe.build ?? [];
  await run(program, args, { cwd: directory, env: environment(recipe, 0), timeout: 480_000, maxBuffer: 2 ** 26 }).catch((error) => {
    throw new Error(`${recipe.id} could not be built: ${error.message}\n${error.stdout}`);
  });
}

const running = new Set<ChildProcess>();
// Some start a process of their own; each runs in a group, which ends as a whole.
const end = ({ pid }: ChildProcess) => {
  try {
    process.kill(-(pid as number), 'SIGKILL');
  } catch {
    // It has ended.
  }
};
process.once('exit', () => running.forEach(end));

/** Runs a site in a directory, and waits until a page of it responds. @throws Error with its output when it ends or does not respond */
export async function launch(
  directory: string,
  recipe: Pick<Recipe, 'id' | 'command' | 'env'>,
  port: number,
  page = '/',
  isUp: (status: number) => boolean = (status) => status === 200,
): Promise<RunningSite> {
  const url = `http://localhost:${port}`;
  const [program, ...args] = recipe.command.map((part) => part.replaceAll('{port}', String(port)));
  const child = spawn(program, args, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment(recipe, port),
    detached: true,
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit');
  const close = async () => {
    end(child);
    await exited;
    running.delete(child);
  };
  try {
    await waitUntil(`${recipe.id} responds`, 150_000, async () => {
      if (child.exitCode !== null) throw new Error(`${recipe.id} ended. It wrote:\n${output}`);
      const response = await new Client(url).get(page).catch(() => null);
      return isUp(response?.status ?? 0) || `It wrote:\n${output}`;
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { url, client: () => Object.assign(new Client(url), { retriesUnavailable: false }), output: () => output, close };
}
