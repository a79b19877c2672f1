import type { Framework } from './framework.ts';

const dependency = (name: string) => [{ file: 'package.json', contains: name }];

const ES_MODULE = 'It is an ES module: without `"type": "module"` in package.json, call it `auth.mjs`.';
const LOAD_IN_NODE = 'Start it with its environment: `node --env-file=.env …`.';

/** Those in JavaScript and TypeScript. */
export const javascriptFrameworks: readonly Framework[] = [
  {
    id: 'express',
    name: 'Express',
    language: 'JavaScript',
    files: [{ source: 'auth.js', path: 'auth.js', role: 'Login, callback, account, logout' }],
    commands: [],
    next: [
      "Add it before your own routes: `import { auth, signedInOnly } from './auth.js'; app.use(auth);`",
      "Guard your pages: `app.get('/orders', signedInOnly, …)`.",
      ES_MODULE,
    ],
    loadEnv: LOAD_IN_NODE,
    port: 3000,
    recognised: dependency('express'),
  },
  {
    id: 'nextjs',
    name: 'Next.js',
    language: 'TypeScript',
    files: [
      { source: 'lib-auth.ts', path: 'lib/auth.ts', role: 'Session' },
      { source: 'login.ts', path: 'app/login/route.ts', role: 'Login' },
      { source: 'callback.ts', path: 'app__CALLBACK__/route.ts', role: 'Callback' },
      { source: 'account.tsx', path: 'app/account/page.tsx', role: 'Protected page, logout' },
    ],
    commands: [],
    next: [
      '`@/` is the alias that create-next-app sets up.',
      'Link to `/login` with a plain `<a>`: `<Link>` would fetch it ahead of the click.',
    ],
    port: 3000,
    recognised: dependency('next'),
    rank: 3,
    layouts: [
      {
        hint: 'With a src directory, put `app` and `lib` into it.',
        exists: ['src/app', 'src/pages'],
        without: ['app', 'pages'],
        from: '',
        to: 'src/',
      },
    ],
  },
  {
    id: 'sveltekit',
    name: 'SvelteKit',
    language: 'JavaScript',
    files: [
      { source: 'auth.js', path: 'src/lib/server/auth.js', role: 'Session' },
      { source: 'login.js', path: 'src/routes/login/+server.js', role: 'Login' },
      { source: 'callback.js', path: 'src/routes__CALLBACK__/+server.js', role: 'Callback' },
      { source: 'account.server.js', path: 'src/routes/account/+page.server.js', role: 'Protected page, logout' },
      { source: 'account.svelte', path: 'src/routes/account/+page.svelte', role: 'Protected page' },
    ],
    commands: [],
    next: [
      'Link to `/login` with `data-sveltekit-reload`, so that it is asked for only by a click.',
      'It needs Node.js, so an adapter such as `@sveltejs/adapter-node`. Unless the site is on https, that one must know its address: `ORIGIN`, or `paths.origin` in SvelteKit 3.',
    ],
    loadEnv:
      'Start it with its environment: `node --env-file=.env node_modules/vite/bin/vite.js dev`, and once built `node --env-file=.env build`.',
    port: 5173,
    recognised: dependency('@sveltejs/kit'),
    rank: 3,
  },
  {
    id: 'nuxt',
    name: 'Nuxt',
    language: 'TypeScript',
    files: [
      { source: 'auth.ts', path: 'server/utils/auth.ts', role: 'Session' },
      { source: 'login.get.ts', path: 'server/routes/login.get.ts', role: 'Login' },
      { source: 'callback.get.ts', path: 'server/routes__CALLBACK__.get.ts', role: 'Callback' },
      { source: 'logout.post.ts', path: 'server/routes/logout.post.ts', role: 'Logout' },
      { source: 'me.get.ts', path: 'server/api/me.get.ts', role: 'Who is signed in' },
      { source: 'account.vue', path: 'app/pages/account.vue', role: 'Protected page' },
    ],
    commands: [],
    next: ['Link to `/login` with a plain `<a>` or `<NuxtLink external>`.', '`app.vue` shows pages once it has `<NuxtPage />` in it.'],
    loadEnv: 'In development it reads `.env` by itself; what you have built does not: `node --env-file=.env .output/server/index.mjs`.',
    port: 3000,
    recognised: dependency('nuxt'),
    rank: 3,
    layouts: [
      {
        hint: 'In Nuxt 3 the pages are in `pages`, without `app`.',
        exists: ['app.vue', 'pages', 'layouts', 'components'],
        without: ['app'],
        from: 'app/',
        to: '',
      },
    ],
  },
  {
    id: 'astro',
    name: 'Astro',
    language: 'TypeScript',
    files: [
      { source: 'auth.ts', path: 'src/lib/auth.ts', role: 'Settings' },
      { source: 'login.ts', path: 'src/pages/login.ts', role: 'Login' },
      { source: 'callback.ts', path: 'src/pages__CALLBACK__.ts', role: 'Callback' },
      { source: 'account.astro', path: 'src/pages/account.astro', role: 'Protected page' },
      { source: 'logout.ts', path: 'src/pages/logout.ts', role: 'Logout' },
    ],
    commands: ['npx astro add node'],
    next: [
      'The adapter keeps the sessions (Astro 5.7 or newer). Any other that has sessions does as well.',
      "In `astro.config.mjs` name your domain, or Astro refuses forms once built: `security: { allowedDomains: [{ hostname: '__DOMAIN__' }] }`.",
    ],
    ownSessions: true,
    loadEnv: 'In development it reads `.env` by itself; what you have built does not: `node --env-file=.env dist/server/entry.mjs`.',
    port: 4321,
    recognised: dependency('astro'),
    rank: 3,
  },
  {
    id: 'hono',
    name: 'Hono',
    language: 'TypeScript',
    files: [{ source: 'auth.ts', path: 'src/auth.ts', role: 'Login, callback, account, logout' }],
    commands: [],
    next: [
      "Add it before your own routes: `import { auth, signedInOnly } from './auth'; app.route('/', auth);`",
      "Guard your pages: `app.get('/orders', signedInOnly, …)`. It runs on Node.js, Bun, Deno and Workers.",
    ],
    loadEnv: 'On Node.js start it with its environment: `node --env-file=.env …`. Bun and Wrangler read `.env` by themselves.',
    port: 3000,
    recognised: dependency('hono'),
  },
  {
    id: 'fastify',
    name: 'Fastify',
    language: 'JavaScript',
    files: [{ source: 'auth.js', path: 'auth.js', role: 'Login, callback, account, logout' }],
    commands: ['npm install @fastify/cookie fastify-plugin'],
    next: [
      "Add it before your own routes: `import { auth, signedInOnly } from './auth.js'; await app.register(auth);`",
      "Guard your pages: `app.get('/orders', { preHandler: signedInOnly }, …)`.",
      ES_MODULE,
    ],
    loadEnv: LOAD_IN_NODE,
    port: 3000,
    recognised: dependency('fastify'),
  },
  {
    id: 'static',
    name: 'Static HTML',
    language: 'JavaScript',
    files: [
      { source: 'worker.js', path: 'worker.js', role: 'Login, callback, logout, guard' },
      { source: 'wrangler.jsonc', path: 'wrangler.jsonc', role: 'Settings of the worker' },
      { source: 'index.html', path: 'public/index.html', role: 'Page with the link', example: true },
      { source: 'account.html', path: 'public/account.html', role: 'Protected page' },
    ],
    commands: ['npx wrangler secret put SESSION_SECRET'],
    next: ['Put your pages into `public`; those under `/account` are for visitors who are signed in.', 'Deploy: `npx wrangler deploy`.'],
    port: 8787,
    recognised: [{ file: 'index.html' }, { file: 'public/index.html' }],
    rank: 0,
  },
];
