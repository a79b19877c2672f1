import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { frameworkOf } from '../templates/catalog.ts';
import { readSources } from '../templates/read.ts';
import { render } from '../templates/render.ts';
import { Client } from './client.ts';
import { goRecipes } from './templates/recipes/go.ts';
import { phpRecipes } from './templates/recipes/php.ts';
import { pythonRecipes } from './templates/recipes/python.ts';
import { rubyRecipes } from './templates/recipes/ruby.ts';
import { freePort, waitUntil } from './waiting.ts';

/** A site made of nothing but a template and the few lines that start it. */
export type TemplateApp = { url: string; client(): Client; close(): Promise<void> };

export type Recipe = {
  id: string;
  /** What Debian calls the packages that it needs. */
  debianPackages?: string[];
  /** Whether this machine has what it takes. */
  available(): boolean;
  /** Files beside the template's, by name. */
  around: Record<string, string>;
  command: string[];
  env?: Record<string, string>;
};

// Packages that are no dependencies of this repository may lie elsewhere.
const modules = process.env.TEMPLATE_NODE_MODULES ?? join(import.meta.dirname, '../node_modules');
const installed = (name: string) => {
  try {
    return createRequire(`${modules}/`).resolve(name) !== '';
  } catch {
    return false;
  }
};
const node = process.execPath;
const moduleType = '{ "type": "module" }';

const WORKER_IN_NODE = `import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import worker from './worker.js';
const pages = { '/': 'public/index.html', '/account': 'public/account.html' };
const ASSETS = { fetch: async (request) => {
  const page = pages[new URL(request.url).pathname];
  return page ? new Response(await readFile(page)) : new Response('', { status: 404 });
} };
createServer(async (request, response) => {
  const asked = new Request(process.env.SITE_URL + request.url, { method: request.method, headers: request.headers });
  const answer = await worker.fetch(asked, { ...process.env, ASSETS });
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.appendHeader(name, value);
  response.end(Buffer.from(await answer.arrayBuffer()));
}).listen(process.env.PORT, '127.0.0.1');`;

export const recipes: Recipe[] = [
  {
    id: 'express',
    available: () => true,
    around: {
      'package.json': moduleType,
      'main.js': `import express from 'express';
import { auth } from './auth.js';
express().use(auth).get('/', (_, response) => response.send('home')).listen(process.env.PORT, '127.0.0.1');`,
    },
    command: [node, 'main.js'],
  },
  {
    id: 'static',
    available: () => true,
    around: { 'package.json': moduleType, 'main.js': WORKER_IN_NODE },
    command: [node, 'main.js'],
  },
  {
    id: 'hono',
    available: () => installed('hono') && installed('@hono/node-server'),
    around: {
      'package.json': moduleType,
      'main.ts': `import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { auth } from './src/auth.ts';
serve({ fetch: new Hono().route('/', auth).get('/', (c) => c.text('home')).fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });`,
    },
    command: [node, '--import', 'tsx', 'main.ts'],
  },
  {
    id: 'fastify',
    available: () => installed('fastify') && installed('@fastify/cookie') && installed('fastify-plugin'),
    around: {
      'package.json': moduleType,
      'main.js': `import fastify from 'fastify';
import { auth } from './auth.js';
const app = fastify();
await app.register(auth);
app.get('/', () => 'home');
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });`,
    },
    command: [node, 'main.js'],
  },
  ...pythonRecipes,
  ...goRecipes,
  ...phpRecipes,
  ...rubyRecipes,
];

/** Renders a template for localhost into an empty directory and runs it against the service. */
export async function startTemplateApp(recipe: Recipe, serviceUrl: string): Promise<TemplateApp> {
  const framework = frameworkOf(recipe.id);
  if (!framework) throw new Error(`There is no framework ${recipe.id}.`);
  const directory = await mkdtemp(join(tmpdir(), `emailauth-${recipe.id}-`));
  const integration = render(framework, await readSources(framework), { origin: serviceUrl, domain: 'localhost' });
  for (const { path, contents } of integration.files) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), contents);
  }
  const port = await freePort();
  const SITE_URL = `http://localhost:${port}`;
  return startAppIn(directory, { ...recipe, env: { SITE_URL, SESSION_SECRET: 'x'.repeat(64), ...recipe.env } }, port);
}

/** Runs a site whose template lies in a directory already, which is removed once it is closed. */
export async function startAppIn(directory: string, { id, around, command, env }: Recipe, port: number): Promise<TemplateApp> {
  for (const [path, contents] of Object.entries(around)) {
    await mkdir(join(directory, dirname(path)), { recursive: true });
    await writeFile(join(directory, path), contents);
  }
  await symlink(modules, join(directory, 'node_modules'));
  const url = `http://localhost:${port}`;
  const [program, ...args] = command.map((part) => part.replaceAll('{port}', String(port)));
  const child = spawn(program, args, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: String(port), ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const exited = once(child, 'exit');
  const close = async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await waitUntil(`${id} answers`, 30_000, async () => {
      if (child.exitCode !== null) throw new Error(`${id} ended. It wrote:\n${output}`);
      const answer = await new Client(url).get('/').catch(() => null);
      return answer?.status === 200 || `It wrote:\n${output}`;
    });
  } catch (error) {
    await close();
    throw error;
  }
  return { url, client: () => new Client(url), close };
}
