import type { Framework, Layout, NewProject, TemplateFile, Variant, Wiring } from './framework.ts';

const dependency = (name: string) => [{ file: 'package.json', contains: name }];
const files = (source: string, path: string): TemplateFile[] => [{ source, path, role: 'Login, callback, account, logout' }];

const ENTRY_NAMES = ['app', 'server', 'index', 'main'].flatMap((name) => ['ts', 'mts', 'js', 'mjs', 'cjs'].map((end) => `${name}.${end}`));
const below = (directory: string) => ENTRY_NAMES.map((name) => `${directory}/${name}`);

/** The files are beside the entry file of the app, which imports them. */
const layouts: Layout[] = ['server', 'src'].map((directory) => ({
  hint: `If the entry file of your app is in \`${directory}\`, put the new file there, too.`,
  exists: below(directory),
  without: directory === 'src' ? [...ENTRY_NAMES, 'server'] : ENTRY_NAMES,
  from: '',
  to: `${directory}/`,
}));

const entryFiles = ['$ENTRY', ...ENTRY_NAMES, ...below('server'), ...below('src')];

const COMMONJS_IMPORT = "const { auth } = require('./auth');";
const MODULE_IMPORT = "import { auth } from './auth.js';";

/** Returns what connects `auth` to an app, below the line in which the app is created. */
const wiring = (load: string, after: RegExp, insert: string, unless: string): Wiring[] => [
  {
    files: entryFiles,
    after,
    insert: `$APP${insert}`,
    import: load,
    unless,
    instead: `Add it before your other routes: \`${load.replace('{ auth }', '{ auth, signedInOnly }')} app${insert}\``,
  },
];

/** Returns the variants of a framework whose ES module in JavaScript is `auth.js`: TypeScript and CommonJS. */
const variantsOf = (wire: (load: string) => Wiring[], devPackages: string[]): Variant[] => [
  {
    id: 'typescript',
    name: 'TypeScript',
    fits: { typescript: true },
    language: 'TypeScript',
    files: files('auth.ts', 'auth.ts'),
    devPackages,
    wiring: wire(MODULE_IMPORT),
  },
  {
    id: 'commonjs',
    name: 'CommonJS',
    fits: { typescript: false, module: 'commonjs' },
    files: files('auth.cjs', 'auth.js'),
    wiring: wire(COMMONJS_IMPORT),
  },
];

/**
 * Returns a new project of Node.js. Its files are ES modules by their names: whether one of `npm init` is a CommonJS project differs
 * between versions of npm.
 */
const newProject = (...packages: string[]): NewProject => ({
  commands: ['npm init -y', `npm install ${packages.join(' ')}`],
  files: [...files('auth.js', 'auth.mjs'), { source: 'index.mjs', path: 'index.mjs', role: 'Entry file' }],
  start: ['node index.mjs'],
});

const wireExpress = (load: string) =>
  wiring(load, /^(?:export )?(?:const|let|var) (?<app>\w+)(?:: [\w.]+)? = express\(\);?[ \t]*$/m, '.use(auth);', '.use(auth)');

export const express: Framework = {
  id: 'express',
  name: 'Express',
  language: 'JavaScript',
  files: files('auth.js', 'auth.js'),
  commands: [],
  wiring: wireExpress(MODULE_IMPORT),
  next: ["Guard your pages: `app.get('/orders', signedInOnly, …)`."],
  standard: 'ES modules',
  variants: variantsOf(wireExpress, ['@types/express']),
  newProject: newProject('express'),
  port: 3000,
  detectedBy: dependency('express'),
  layouts,
};

// The app is created by Fastify, or the parameter of the plugin that fastify-cli starts.
const FASTIFY_APP =
  /\b(?<app>\w+)(?:(?:: \w+)? = (?:[Ff]astify|require\(['"]fastify['"]\))\([^()]*\);?[ \t]*$|,\s+opts\s*\)(?:: Promise<void> =>)? \{[ \t]*$)/m;
const wireFastify = (load: string) => wiring(load, FASTIFY_APP, '.register(auth);', '.register(auth)');

export const fastify: Framework = {
  id: 'fastify',
  name: 'Fastify',
  language: 'JavaScript',
  files: files('auth.js', 'auth.js'),
  packages: ['fastify-plugin'],
  commands: [],
  wiring: wireFastify(MODULE_IMPORT),
  next: ["Guard your pages: `app.get('/orders', { preHandler: signedInOnly }, …)`."],
  standard: 'ES modules',
  variants: variantsOf(wireFastify, ['@types/node']),
  newProject: newProject('fastify', 'fastify-plugin'),
  port: 3000,
  detectedBy: dependency('fastify'),
  layouts,
};

const wireHono = (load: string) =>
  wiring(
    load,
    /^(?:export )?(?:const|let|var) (?<app>\w+) = new Hono(?:<[^()\n]{1,200}>)?\(\);?[ \t]*$(?!\n[ \t]*\.)/m,
    ".route('/', auth);",
    ', auth)',
  );

export const hono: Framework = {
  id: 'hono',
  name: 'Hono',
  language: 'TypeScript',
  files: files('auth.ts', 'auth.ts'),
  commands: [],
  wiring: wireHono(MODULE_IMPORT),
  next: ["Guard your pages: `app.get('/orders', signedInOnly, …)`. It works on Node.js, Bun, Deno and Workers."],
  standard: 'TypeScript',
  variants: [
    {
      id: 'javascript',
      name: 'JavaScript',
      fits: { typescript: false, module: 'esm' },
      language: 'JavaScript',
      files: files('auth.js', 'auth.js'),
    },
    {
      id: 'commonjs',
      name: 'CommonJS',
      fits: { typescript: false, module: 'commonjs' },
      language: 'JavaScript',
      files: files('auth.cjs', 'auth.js'),
      wiring: wireHono(COMMONJS_IMPORT),
    },
  ],
  newProject: newProject('hono', '@hono/node-server'),
  port: 3000,
  detectedBy: dependency('hono'),
  layouts,
};

/** Pages that Vite builds, which have no server of their own. */
export const vite: Framework = {
  id: 'vite',
  name: 'Vite (React, Vue, …)',
  language: 'JavaScript',
  files: [
    { source: 'auth.mjs', path: 'server/auth.mjs', role: 'Login, callback, account, logout' },
    { source: 'index.mjs', path: 'server/index.mjs', role: 'Server of the website' },
  ],
  packages: ['express'],
  commands: [],
  wiring: [
    {
      files: ['vite.config.ts', 'vite.config.js', 'vite.config.mts', 'vite.config.mjs'],
      // A configuration with its own `server` is left to its author.
      after: /defineConfig\(\{[ \t]*$(?![\s\S]*\bserver:)/m,
      insert: `server: {
  proxy: { '^(__LOGIN__|__CALLBACK__|/account|/logout|/api/me)([?]|$)': 'http://localhost:4000' },
},`,
      unless: '__LOGIN__|__CALLBACK__',
      instead:
        "Add this to `vite.config`: `server: { proxy: { '^(__LOGIN__|__CALLBACK__|/account|/logout|/api/me)([?]|$)': 'http://localhost:4000' } }`.",
    },
  ],
  next: [
    'In development, start the server beside Vite: `node server/index.mjs`.',
    "In your pages, link to `__LOGIN__` with a plain `<a>`, and read the signed-in visitor from `fetch('/api/me')`.",
    'In production, the server has the pages, too: `npm run build`, then `node server/index.mjs` with `PORT` and `SITE_URL`.',
  ],
  port: 5173,
  detectedBy: dependency('vite'),
  rank: 1,
};
