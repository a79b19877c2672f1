import { otherFrameworks } from './catalog-others.ts';
import { express, fastify, hono, vite } from './catalog-servers.ts';
import type { EnvironmentVariable, Framework, TemplateFile } from './framework.ts';

const dependency = (name: string) => [{ file: 'package.json', contains: name }];

const appRouter = (end: 'ts' | 'js'): TemplateFile[] => [
  { source: `app-auth.${end}`, path: `lib/auth.${end}`, role: 'Session' },
  { source: `app-login.${end}`, path: `app__LOGIN__/route.${end}`, role: 'Login' },
  { source: `app-callback.${end}`, path: `app__CALLBACK__/route.${end}`, role: 'Callback' },
  { source: `app-account.${end}x`, path: `app/account/page.${end === 'ts' ? 'tsx' : 'js'}`, role: 'Protected page, logout' },
];

const pagesRouter = (end: 'ts' | 'js'): TemplateFile[] => {
  const page = (source: string, path: string, role: string) => ({
    source: `${source}.${end}x`,
    path: `${path}.${end === 'ts' ? 'tsx' : 'js'}`,
    role,
  });
  return [
    { source: `pages-auth.${end}`, path: `lib/auth.${end}`, role: 'Session' },
    page('pages-login', 'pages__LOGIN__', 'Login'),
    page('pages-callback', 'pages__CALLBACK__', 'Callback'),
    page('pages-account', 'pages/account', 'Protected page'),
    page('pages-logout', 'pages/logout', 'Logout'),
  ];
};

const svelteKit = (end: 'ts' | 'js'): TemplateFile[] => [
  { source: `auth.${end}`, path: `src/lib/server/auth.${end}`, role: 'Session' },
  { source: `login.${end}`, path: `src/routes__LOGIN__/+server.${end}`, role: 'Login' },
  { source: `callback.${end}`, path: `src/routes__CALLBACK__/+server.${end}`, role: 'Callback' },
  { source: `account.server.${end}`, path: `src/routes/account/+page.server.${end}`, role: 'Protected page, logout' },
  { source: `account${end === 'ts' ? '.typed' : ''}.svelte`, path: 'src/routes/account/+page.svelte', role: 'Protected page' },
];

/** The frameworks in JavaScript and TypeScript. */
const javascriptFrameworks: readonly Framework[] = [
  express,
  {
    id: 'nextjs',
    name: 'Next.js',
    language: 'TypeScript',
    files: appRouter('ts'),
    commands: [],
    next: ['Link to `__LOGIN__` with a plain `<a>`: `<Link>` would prefetch it.'],
    standard: 'App Router, TypeScript',
    variants: [
      {
        id: 'javascript',
        name: 'App Router, JavaScript',
        fits: { router: 'app', typescript: false },
        language: 'JavaScript',
        files: appRouter('js'),
      },
      { id: 'pages', name: 'Pages Router, TypeScript', fits: { router: 'pages', typescript: true }, files: pagesRouter('ts') },
      {
        id: 'pages-javascript',
        name: 'Pages Router, JavaScript',
        fits: { router: 'pages', typescript: false },
        language: 'JavaScript',
        files: pagesRouter('js'),
      },
    ],
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
    files: svelteKit('js'),
    standard: 'JavaScript',
    variants: [{ id: 'typescript', name: 'TypeScript', fits: { typescript: true }, language: 'TypeScript', files: svelteKit('ts') }],
    devPackages: ['@types/node'],
    commands: [],
    next: [
      'Link to `__LOGIN__` with `data-sveltekit-reload`, so that only a click requests it.',
      'It needs Node.js, so use an adapter such as `@sveltejs/adapter-node`. If the website is not on https, give the adapter its address: `ORIGIN`, or `paths.origin` in SvelteKit 3.',
    ],
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
      { source: 'login.get.ts', path: 'server/routes__LOGIN__.get.ts', role: 'Login' },
      { source: 'callback.get.ts', path: 'server/routes__CALLBACK__.get.ts', role: 'Callback' },
      { source: 'logout.post.ts', path: 'server/routes/logout.post.ts', role: 'Logout' },
      { source: 'me.get.ts', path: 'server/api/me.get.ts', role: 'Signed-in user' },
      { source: 'account.vue', path: 'app/pages/account.vue', role: 'Protected page' },
      { source: 'index.vue', path: 'app/pages/index.vue', role: 'Page with the login link', example: true },
    ],
    commands: [],
    wiring: [
      {
        files: ['app/app.vue', 'app.vue'],
        after: /<NuxtWelcome ?\/>/,
        replaces: true,
        insert: '<NuxtPage />',
        unless: '<NuxtPage',
        instead: '`app.vue` must contain `<NuxtPage />` to show pages.',
      },
    ],
    next: ['Link to `__LOGIN__` with a plain `<a>` or `<NuxtLink external>`.'],
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
      { source: 'login.ts', path: 'src/pages__LOGIN__.ts', role: 'Login' },
      { source: 'callback.ts', path: 'src/pages__CALLBACK__.ts', role: 'Callback' },
      { source: 'account.astro', path: 'src/pages/account.astro', role: 'Protected page' },
      { source: 'logout.ts', path: 'src/pages/logout.ts', role: 'Logout' },
    ],
    packages: ['@astrojs/node'],
    commands: [],
    wiring: [
      {
        files: ['astro.config.mjs', 'astro.config.ts', 'astro.config.js', 'astro.config.mts'],
        // A configuration with its own adapter or security settings is left to its author.
        after: /defineConfig\(\{(?![\s\S]*\b(?:adapter|security):)[ \t]*\n?/,
        replaces: true,
        insert: `defineConfig({
  adapter: node({ mode: 'standalone' }),
  // Without its domain, Astro would reject the forms of the website after a build.
  security: { allowedDomains: [{ hostname: '__DOMAIN__' }] },
`,
        import: "import node from '@astrojs/node';",
        unless: 'allowedDomains',
        instead:
          "Set an adapter and your domain in `astro.config.mjs`: `adapter: node({ mode: 'standalone' }), security: { allowedDomains: [{ hostname: '__DOMAIN__' }] }`, with `import node from '@astrojs/node';`.",
      },
    ],
    next: [
      'The adapter stores the sessions (Astro 5.7 or newer). Any other adapter with sessions works, too.',
      "On https, keep sessions of other subdomains out: `session: { cookie: { name: '__Host-session', secure: true } }` in `astro.config.mjs`.",
    ],
    ownSessions: true,
    loadEnv: 'Astro reads `.env` in development only. After a build: `node --env-file=.env dist/server/entry.mjs`.',
    port: 4321,
    detectedBy: dependency('astro'),
    rank: 3,
  },
  hono,
  fastify,
  vite,
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

/** The length from which the integrations accept a SESSION_SECRET, in characters. */
export const MIN_SECRET_LENGTH = 32;

/** The environment variables of every integration; `render` fills in their values. */
export const environment: readonly EnvironmentVariable[] = [
  {
    name: 'SESSION_SECRET',
    value: '',
    purpose: 'Its key signs the session cookie: at least 32 random characters, for example from `openssl rand -hex 32`.',
  },
  { name: 'SITE_URL', value: '__SITE__', purpose: 'The URL of the website; only tokens for its host are accepted.' },
  { name: 'EMAILAUTH_URL', value: '__ORIGIN__', purpose: 'The sign-in service.' },
];

/**
 * All frameworks with an integration. The files of each are in the folder named by its `id`. The web app, the command line, the
 * MCP server and the documentation share this list.
 */
export const frameworks: readonly Framework[] = [...javascriptFrameworks, ...otherFrameworks];

/** Returns the framework with an id, or undefined. */
export const frameworkOf = (id: string): Framework | undefined => frameworks.find((framework) => framework.id === id);
