import { execPath as node } from 'node:process';
import type { Recipe } from '../recipe.ts';

/** Sites that Node.js runs as they are. */
export const nodeRecipes: Recipe[] = [
  {
    id: 'express',
    available: () => true,
    around: {
      'package.json': '{ "type": "module" }',
      'main.js': `import express from 'express';
import { auth } from './auth.js';
const home = '<a href="/login">Login with Email</a>';
express().use(auth).get('/', (_, response) => response.send(home)).listen(process.env.PORT, '127.0.0.1');`,
    },
    command: [node, 'main.js'],
  },
  {
    id: 'fastify',
    available: () => true,
    packages: true,
    around: {
      'main.js': `import fastify from 'fastify';
import { auth } from './auth.js';
const app = fastify();
await app.register(auth);
app.get('/', (_, reply) => reply.type('text/html').send('<a href="/login">Login with Email</a>'));
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });`,
    },
    command: [node, 'main.js'],
  },
  {
    id: 'hono',
    available: () => true,
    packages: true,
    around: {
      'main.ts': `import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { auth } from './src/auth.ts';
const app = new Hono().route('/', auth).get('/', (c) => c.html('<a href="/login">Login with Email</a>'));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });`,
    },
    command: [node, '--import', 'tsx', 'main.ts'],
  },
  {
    id: 'static',
    available: () => true,
    packages: true,
    // What starts the worker is what people develop it with: Cloudflare's own runtime. Its index.html is the template's.
    around: {},
    command: [
      node,
      '../node_modules/.bin/wrangler',
      'dev',
      '--port={port}',
      '--ip=127.0.0.1',
      '--inspector-port=0',
      '--show-interactive-dev-session=false',
    ],
    // Wrangler takes the worker's variables from .env, or so from its environment.
    env: { CLOUDFLARE_INCLUDE_PROCESS_ENV: 'true', WRANGLER_SEND_METRICS: 'false', CI: 'true' },
  },
];
