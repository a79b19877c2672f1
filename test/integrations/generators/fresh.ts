import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { execa } from 'execa';
import { freePort } from '../../support/waiting.ts';
import type { ProjectRecipe, Run } from './project.ts';
import { newest, openTools } from './tools.ts';

/** A fresh project with its packages, in a directory of its own. */
export type FreshProject = {
  directory: string;
  /** The directory of the app in it. */
  app: string;
  /** Variables for the programs that run in it. */
  environment: Record<string, string>;
  /** The port of its code, or one for PORT. */
  port: number;
  remove(): Promise<void>;
};

/** Makes a project with its generator, or copies the one that an earlier run has made. @throws Error with the output of the generator */
export async function freshProject(id: string, recipe: ProjectRecipe): Promise<FreshProject> {
  const tools = await openTools();
  const { NODE_EXTRA_CA_CERTS } = process.env;
  const environment: Record<string, string> = {
    HOME: homedir(),
    LANG: 'C.UTF-8',
    // A network with a certificate authority of its own.
    ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
    ...tools.environment(recipe),
    ...recipe.env,
  };
  if (recipe.programs) environment.PATH = `${recipe.programs}${delimiter}${environment.PATH}`;
  const made = await cached(recipe.madeAs ?? id, recipe, environment);
  const directory = join(await mkdtemp(join(tmpdir(), `emailauth-${id}-`)), 'shop');
  await execa('cp', ['-a', made, directory]);
  const port = await freePort();
  const app = join(directory, recipe.app ?? '');
  for (const path of recipe.fixedPort ?? []) {
    const source = await readFile(join(app, path), 'utf8');
    if (!source.includes('3000')) throw new Error(`${id}: ${path} has no port 3000.`);
    await writeFile(join(app, path), source.replaceAll('3000', String(port)));
  }
  return { directory, app, environment, port, remove: () => rm(dirname(directory), { recursive: true, force: true, maxRetries: 5 }) };
}

/** The files that decide what a made project contains. */
const SOURCES = ['javascript.ts', 'others.ts', 'other-sources.ts', 'starters.ts', 'tutorials.ts', 'tools.ts', 'packages/package-lock.json'];

/** Returns the directory of the made project. After a change of SOURCES it is made again, and always by the newest generators. */
async function cached(name: string, recipe: ProjectRecipe, environment: Record<string, string>): Promise<string> {
  const hash = createHash('sha256');
  for (const file of SOURCES) hash.update(await readFile(join(import.meta.dirname, file)));
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = join(isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache'), 'emailauth/projects');
  const home = newest
    ? join(tmpdir(), `emailauth-newest-${process.pid}-${name}`)
    : join(cache, `${name}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(home)) return home;

  await mkdir(dirname(home), { recursive: true });
  const parent = await mkdtemp(`${home}.`);
  // The name of the directory becomes the name of the package.
  const directory = join(parent, 'shop');
  try {
    await mkdir(directory);
    const run: Run = async (program, args, cwd) => {
      await mkdir(cwd, { recursive: true });
      await runIn(cwd, environment, [program, ...args]);
    };
    await recipe.make(directory, run);
    if (existsSync(join(directory, 'package.json'))) await runIn(directory, environment, recipe.install ?? ['npm', 'install']);
    await rename(directory, home).catch((error) => {
      if (!existsSync(home)) throw error;
    });
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
  return home;
}

/** Runs a command to its end. @throws Error with its output unless it exits with 0 */
export async function runIn(cwd: string, env: Record<string, string>, command: readonly string[]): Promise<string> {
  const [program, ...args] = command;
  const { exitCode, all, shortMessage } = await execa(program, args, {
    cwd,
    env,
    extendEnv: false,
    stdin: 'ignore',
    all: true,
    reject: false,
    timeout: 400_000,
  });
  if (exitCode !== 0) throw new Error(`\`${command.join(' ')}\` in ${cwd}: ${shortMessage ?? exitCode}\n${all}`);
  return all;
}

/** What builds, interpreters and running apps leave beside the code. */
const OUTPUTS =
  /^(?:node_modules|\.git|\.next|\.nuxt|\.data|\.output|\.svelte-kit|\.astro|dist|__pycache__|instance|db\.sqlite3|log|tmp|.*\.tsbuildinfo)$/;

/** Returns the contents of a project by path: hashes of files, links, and directories, without packages and the output of builds. */
export async function contentsOf(directory: string): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  const walk = async (path: string) => {
    for (const entry of await readdir(join(directory, path), { withFileTypes: true })) {
      if (OUTPUTS.test(entry.name)) continue;
      const inner = join(path, entry.name);
      if (entry.isDirectory()) {
        contents[inner] = 'directory';
        await walk(inner);
      } else if (entry.isSymbolicLink()) contents[inner] = `link to ${await readlink(join(directory, inner))}`;
      else
        contents[inner] = createHash('sha256')
          .update(await readFile(join(directory, inner)))
          .digest('hex');
    }
  };
  await walk('');
  const packages = join(directory, 'node_modules/.package-lock.json');
  if (existsSync(packages)) contents['installed packages'] = Object.keys(JSON.parse(await readFile(packages, 'utf8')).packages).join('\n');
  return contents;
}
