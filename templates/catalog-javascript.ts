import type { Framework } from './framework.ts';

const dependency = (name: string) => [{ file: 'package.json', contains: name }];

const ES_MODULE = 'The file is an ES module: without `"type": "module"` in package.json, name it `auth.mjs`.';
const LOAD_IN_NODE = 'Start the app with its environment: `node --env-file=.env …`.';

/** The frameworks in JavaScript and TypeScript. */
export const javascriptFrameworks: readonly Framework[] = [
  {
    id: 'express',
    name: 'Express',
    language: 'JavaScript',
    files: [{ source: 'auth.js', path: 'auth.js', role: 'Login, callback, account, logout' }],
    commands: [],
    next: [
      "Add it before your other routes: `import { auth, signedInOnly } from './auth.js'; app.use(auth);`",
      "Guard your pages: `app.get('/orders', signedInOnly, …)`.",
      ES_MODULE,
    ],
    loadEnv: LOAD_IN_NODE,
    port: 3000,
    detectedBy: dependency('express'),
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
    next: ['`@/` is the alias that create-next-app sets up.', 'Link to `/login` with a plain `<a>`: `<Link>` would prefetch it.'],
    port: 3000,
    detectedBy: dependency('next'),
    rank: 3,
    layouts: [
      {
        hint: 'If the project has a `src` directory, put `app` and `lib` into it.',
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
      'Link to `/login` with `data-sveltekit-reload`, so that only a click requests it.',
      'It needs Node.js, so use an adapter such as `@sveltejs/adapter-node`. If the website is not on https, give the adapter its address: `ORIGIN`, or `paths.origin` in SvelteKit 3.',
    ],
    loadEnv:
      'Start the app with its environment: `node --env-file=.env node_modules/vite/bin/vite.js dev` in development, `node --env-file=.env build` after a build.',
    port: 5173,
    detectedBy: dependency('@sveltejs/kit'),
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
      { source: 'me.get.ts', path: 'server/api/me.get.ts', role: 'Signed-in user' },
      { source: 'account.vue', path: 'app/pages/account.vue', role: 'Protected page' },
    ],
    commands: [],
    next: ['Link to `/login` with a plain `<a>` or `<NuxtLink external>`.', '`app.vue` must contain `<NuxtPage />` to show pages.'],
    loadEnv: 'Nuxt reads `.env` in development only. After a build: `node --env-file=.env .output/server/index.mjs`.',
    port: 3000,
    detectedBy: dependency('nuxt'),
    rank: 3,
    layouts: [
      {
        hint: 'In Nuxt 3 the pages are in `pages`, not in `app/pages`.',
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
      'The adapter stores the sessions (Astro 5.7 or newer). Any other adapter with sessions works too.',
      "Set your domain in `astro.config.mjs`, otherwise Astro rejects forms after a build: `security: { allowedDomains: [{ hostname: '__DOMAIN__' }] }`.",
    ],
    ownSessions: true,
    loadEnv: 'Astro reads `.env` in development only. After a build: `node --env-file=.env dist/server/entry.mjs`.',
    port: 4321,
    detectedBy: dependency('astro'),
    rank: 3,
  },
  {
    id: 'hono',
    name: 'Hono',
    language: 'TypeScript',
    files: [{ source: 'auth.ts', path: 'src/auth.ts', role: 'Login, callback, account, logout' }],
    commands: [],
    next: [
      "Add it before your other routes: `import { auth, signedInOnly } from './auth'; app.route('/', auth);`",
      "Guard your pages: `app.get('/orders', signedInOnly, …)`. It works on Node.js, Bun, Deno and Workers.",
    ],
    loadEnv: 'On Node.js, start the app with its environment: `node --env-file=.env …`. Bun and Wrangler read `.env` themselves.',
    port: 3000,
    detectedBy: dependency('hono'),
  },
  {
    id: 'fastify',
    name: 'Fastify',
    language: 'JavaScript',
    files: [{ source: 'auth.js', path: 'auth.js', role: 'Login, callback, account, logout' }],
    commands: ['npm install @fastify/cookie fastify-plugin'],
    next: [
      "Add it before your other routes: `import { auth, signedInOnly } from './auth.js'; await app.register(auth);`",
      "Guard your pages: `app.get('/orders', { preHandler: signedInOnly }, …)`.",
      ES_MODULE,
    ],
    loadEnv: LOAD_IN_NODE,
    port: 3000,
    detectedBy: dependency('fastify'),
  },
  {
    id: 'static',
    name: 'Static HTML',
    language: 'JavaScript',
    files: [
      { source: 'worker.js', path: 'worker.js', role: 'Login, callback, logout, guard' },
      { source: 'wrangler.jsonc', path: 'wrangler.jsonc', role: 'Worker settings' },
      { source: 'index.html', path: 'public/index.html', role: 'Page with the login link', example: true },
      { source: 'account.html', path: 'public/account.html', role: 'Protected page' },
    ],
    commands: ['npx wrangler secret put SESSION_SECRET'],
    next: ['Put your pages into `public`; pages under `/account` require a sign-in.', 'Deploy: `npx wrangler deploy`.'],
    port: 8787,
    detectedBy: [{ file: 'index.html' }, { file: 'public/index.html' }],
    rank: 0,
  },
];
