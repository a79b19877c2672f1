import type { EnvironmentVariable, Framework } from './framework.ts';

/** What every integration reads from its environment; the values are filled in like the files. */
export const environment: readonly EnvironmentVariable[] = [
  {
    name: 'SESSION_SECRET',
    value: '',
    purpose: 'Signs the session cookie: 64 random characters, for example from `openssl rand -hex 32`.',
  },
  { name: 'SITE_URL', value: '__SITE__', purpose: 'Where the site runs; its host is the domain whose tokens are accepted.' },
  { name: 'EMAILAUTH_URL', value: '__ORIGIN__', purpose: 'The sign-in service.' },
];

const dependency = (name: string) => [{ file: 'package.json', contains: name }];
const requirement = (name: string) => ['requirements.txt', 'pyproject.toml', 'Pipfile'].map((file) => ({ file, contains: name }));

const ES_MODULE = 'It is an ES module: without `"type": "module"` in package.json, call it `auth.mjs`.';
const LOAD_IN_NODE = 'Start it with its environment: `node --env-file=.env …`.';
const LOAD_IN_SHELL = 'Load its environment into the shell before you start it: `set -a; . ./.env; set +a`.';

/**
 * Every framework that there is an integration for. The files themselves lie in the folder named by `id`; `render` fills them
 * in. The web app, the command line and the MCP server read this one list.
 */
export const frameworks: readonly Framework[] = [
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
  {
    id: 'flask',
    name: 'Flask',
    language: 'Python',
    files: [{ source: 'auth.py', path: 'auth.py', role: 'Login, callback, account, logout' }],
    commands: [],
    next: [
      'Add it to your app: `from auth import auth, signed_in_only; app.register_blueprint(auth)`.',
      'Guard your views with `@signed_in_only`.',
    ],
    loadEnv: '`flask run` reads `.env` once python-dotenv is installed: `pip install python-dotenv`.',
    port: 5000,
    recognised: requirement('flask'),
  },
  {
    id: 'fastapi',
    name: 'FastAPI',
    language: 'Python',
    files: [{ source: 'auth.py', path: 'auth.py', role: 'Login, callback, account, logout' }],
    commands: ['pip install httpx itsdangerous'],
    next: [
      'Add it to your app: `from auth import init_auth, signed_in_email; init_auth(app)`.',
      'Guard your paths: `email: str = Depends(signed_in_email)`.',
    ],
    loadEnv: 'Start it with its environment: `uvicorn main:app --env-file .env` (with python-dotenv installed).',
    port: 8000,
    recognised: requirement('fastapi'),
  },
  {
    id: 'django',
    name: 'Django',
    language: 'Python',
    files: [{ source: 'email_login.py', path: 'email_login.py', role: 'Login, callback, account, logout' }],
    commands: [],
    next: [
      "Put it beside `manage.py` and add to `urlpatterns`: `path('', include('email_login'))`.",
      "Guard your views with `@login_required`, and set `LOGIN_URL = '/login'`. Its sessions and users are Django's own.",
      'On https set `SESSION_COOKIE_SECURE = True`. Staff signs in with its password only.',
    ],
    ownSessions: true,
    loadEnv: LOAD_IN_SHELL,
    port: 8000,
    recognised: [{ file: 'manage.py' }],
    rank: 3,
  },
  {
    id: 'go',
    name: 'Go',
    language: 'Go',
    files: [{ source: 'auth.go', path: 'auth.go', role: 'Login, callback, account, logout' }],
    commands: [],
    next: [
      'Add it to your `http.ServeMux` (Go 1.22 or newer): `AddAuth(mux)`.',
      'Guard your pages with `SignedInOnly`.',
      'Its first line says `package main`: if your package has another name, put that one there.',
    ],
    loadEnv: LOAD_IN_SHELL,
    port: 8080,
    recognised: [{ file: 'go.mod' }],
    rank: 1,
  },
  {
    id: 'php',
    name: 'PHP',
    language: 'PHP',
    files: [{ source: 'auth.php', path: 'auth.php', role: 'Login, callback, account, logout' }],
    commands: [],
    next: ["Begin your front controller with `require 'auth.php';`", 'Guard your pages: `$email = signedInEmail();`'],
    ownSessions: true,
    loadEnv: LOAD_IN_SHELL,
    port: 8000,
    recognised: [{ file: 'index.php' }, { file: 'public/index.php' }],
    rank: 1,
  },
  {
    id: 'sinatra',
    name: 'Sinatra',
    language: 'Ruby',
    files: [{ source: 'auth.rb', path: 'auth.rb', role: 'Login, callback, account, logout' }],
    commands: [],
    next: ['Derive your app from it: `require_relative "auth"; class App < Auth`.', 'Guard your routes: `email = signed_in_email`.'],
    loadEnv: LOAD_IN_SHELL,
    port: 4567,
    recognised: [{ file: 'Gemfile', contains: 'sinatra' }],
  },
  {
    id: 'laravel',
    name: 'Laravel',
    language: 'PHP',
    files: [
      { source: 'EmailLoginController.php', path: 'app/Http/Controllers/EmailLoginController.php', role: 'Login, callback, logout' },
      { source: 'routes.php', path: 'routes/email-login.php', role: 'Routes' },
      { source: 'account.blade.php', path: 'resources/views/email-login/account.blade.php', role: 'Protected page' },
      { source: 'refused.blade.php', path: 'resources/views/email-login/refused.blade.php', role: 'Page of a refused sign-in' },
      { source: 'emailauth.php', path: 'config/emailauth.php', role: 'Settings' },
    ],
    commands: ['php artisan migrate'],
    next: [
      "Add to `routes/web.php`: `require base_path('routes/email-login.php');`",
      "Guard your routes: `->middleware('auth')`. Its sessions and users are Laravel's own.",
      'On https set `SESSION_SECURE_COOKIE=true` in `.env`.',
    ],
    ownSessions: true,
    port: 8000,
    recognised: [{ file: 'artisan' }, { file: 'composer.json', contains: 'laravel/framework' }],
    rank: 3,
  },
  {
    id: 'rails',
    name: 'Ruby on Rails',
    language: 'Ruby',
    files: [
      { source: 'email_login_controller.rb', path: 'app/controllers/email_login_controller.rb', role: 'Login, callback, logout' },
      { source: 'signed_in.rb', path: 'app/controllers/concerns/signed_in.rb', role: 'Guard' },
      { source: 'routes.rb', path: 'config/routes/email_login.rb', role: 'Routes' },
      { source: 'account.html.erb', path: 'app/views/email_login/account.html.erb', role: 'Protected page' },
      { source: 'refused.html.erb', path: 'app/views/email_login/refused.html.erb', role: 'Page of a refused sign-in' },
    ],
    commands: [],
    next: [
      'Add to `config/routes.rb` (Rails 6.1 or newer): `draw :email_login`.',
      'Guard your controllers: `include SignedIn`; `signed_in_email` says who it is.',
      'Keep `config.force_ssl = true` in `config/environments/production.rb`: it makes the session cookie Secure.',
    ],
    ownSessions: true,
    loadEnv: `${LOAD_IN_SHELL} The gem dotenv-rails does that by itself.`,
    port: 3000,
    recognised: [{ file: 'Gemfile', contains: 'rails' }, { file: 'bin/rails' }],
    rank: 3,
  },
  {
    id: 'wordpress',
    name: 'WordPress',
    language: 'PHP',
    files: [
      {
        source: 'email-login.php',
        path: 'wp-content/plugins/email-login/email-login.php',
        role: 'Plugin: login, callback, account, logout',
      },
    ],
    commands: [],
    next: [
      'Activate the plugin Email Login. Permalinks must be anything but Plain.',
      'Guard your own pages with `is_user_logged_in()`: visitors are WordPress users, new ones subscribers.',
      "Only subscribers and customers get in by email, and in a network of sites nobody. Others do if `wp-config.php` says so: `define( 'EMAIL_LOGIN_ROLES', array( 'subscriber', 'editor' ) );`",
      "It reads no `.env`. Another service goes into `wp-config.php`: `define( 'EMAILAUTH_URL', 'https://auth.example.com' );`",
    ],
    ownSessions: true,
    ownSettings: true,
    port: 8080,
    recognised: [
      ...['wp-config.php', 'wp-config-sample.php', 'wp-load.php', 'wp-content/index.php'].map((file) => ({ file })),
      { file: 'composer.json', contains: 'roots/wordpress' },
    ],
    rank: 3,
    layouts: [
      { hint: 'In Bedrock `wp-content` is `web/app`.', exists: ['web/app'], without: ['wp-content'], from: 'wp-content/', to: 'web/app/' },
    ],
  },
];

/** @returns undefined for an id that no framework has */
export const frameworkOf = (id: string): Framework | undefined => frameworks.find((framework) => framework.id === id);
