/** A fresh project of a framework's generator or tutorial, in which the tests add the sign-in with `emailauth init`. */
export type TestedProject = {
  id: string;
  /** The id of a framework in the catalog. */
  framework: string;
  /** The command of the generator; without a version, a text about the origin of the project as Markdown. */
  generator: string;
  /** Of the generator. Absent when the one of the machine is taken. */
  version?: string;
  /** Only the nightly run has it, with the newest version: it takes minutes and is much like another one. */
  nightly?: true;
  /** What distinguishes it from the generator's other projects. */
  kind: string;
};

const nextApp = { framework: 'nextjs', generator: 'create-next-app', version: '16.4.3' };
const express = { framework: 'express', generator: '`npm init` and the guide of Express' };
const fastify = { framework: 'fastify', generator: 'fastify-cli generate', version: '8.0.2' };
const vite = { generator: 'create-vite', version: '9.3.0' };
const svelte = { framework: 'sveltekit', generator: 'sv create', version: '0.17.1' };

/** The projects of `npm run test:generators`; the documentation lists them. */
export const testedProjects = [
  { id: 'npm-express-cjs', ...express, kind: 'CommonJS, the app of the Express guide' },
  { id: 'npm-express-esm', ...express, kind: 'ES modules, the app of the Express guide' },
  { id: 'npm-express-ts', ...express, kind: 'TypeScript as CommonJS, strict' },
  { id: 'npm-express-ts-esm', ...express, kind: 'TypeScript as ES modules, with `tsc --init`' },
  { id: 'express-generator', framework: 'express', generator: 'express-generator', version: '4.16.1', kind: 'CommonJS, Express 4' },
  { id: 'yarn-workspace', ...express, kind: 'ES modules in a workspace of Yarn 1' },
  { id: 'next-app-ts', ...nextApp, kind: 'TypeScript, app router' },
  { id: 'next-app-ts-src', ...nextApp, kind: 'TypeScript, app router, `src/`', nightly: true },
  { id: 'next-app-js-src', ...nextApp, kind: 'JavaScript, app router, `src/`' },
  { id: 'next-pages-ts', ...nextApp, kind: 'TypeScript, pages router' },
  { id: 'next-pages-js-src', ...nextApp, kind: 'JavaScript, pages router, `src/`', nightly: true },
  { id: 'pnpm-workspace-next', ...nextApp, kind: 'TypeScript, app router, in a workspace of pnpm' },
  { id: 'nuxt', framework: 'nuxt', generator: 'nuxi init', version: '3.37.0', kind: 'minimal' },
  { id: 'sveltekit-ts', ...svelte, kind: 'minimal, TypeScript' },
  { id: 'sveltekit-js', ...svelte, kind: 'minimal, JavaScript' },
  { id: 'astro', framework: 'astro', generator: 'create-astro', version: '5.2.4', kind: 'minimal' },
  { id: 'hono-node', framework: 'hono', generator: 'create-hono', version: '0.19.5', kind: 'nodejs' },
  { id: 'fastify-cli-esm', ...fastify, kind: 'ES modules' },
  { id: 'fastify-cli-cjs', ...fastify, kind: 'CommonJS' },
  { id: 'pnpm-workspace-fastify', ...fastify, kind: 'ES modules, in a workspace of pnpm' },
  { id: 'vite-react', framework: 'vite', ...vite, kind: 'React and TypeScript without a back end' },
  { id: 'vite-vue', framework: 'vite', ...vite, kind: 'Vue without a back end' },
  { id: 'vite-react-express', framework: 'express', ...vite, kind: 'React with an Express back end' },
  { id: 'vite-vue-hono', framework: 'hono', ...vite, kind: 'Vue with a Hono back end' },
  { id: 'flask-app', framework: 'flask', generator: 'the quickstart of Flask', kind: '`app.py`' },
  { id: 'flask-factory', framework: 'flask', generator: 'the tutorial of Flask', kind: 'a package with `create_app`' },
  { id: 'fastapi-main', framework: 'fastapi', generator: 'the tutorial of FastAPI', kind: '`main.py`' },
  { id: 'fastapi-package', framework: 'fastapi', generator: 'the tutorial of FastAPI', kind: '`app/main.py`' },
  { id: 'django-startproject', framework: 'django', generator: '`django-admin startproject` of Debian', kind: 'as generated' },
  { id: 'go-default-mux', framework: 'go', generator: 'the tutorial of Go', kind: '`http.HandleFunc`' },
  { id: 'go-mux', framework: 'go', generator: 'the documentation of Go', kind: '`http.ServeMux`' },
  { id: 'php-index', framework: 'php', generator: 'by hand', kind: 'a front controller with its own session' },
  { id: 'php-public', framework: 'php', generator: 'by hand', kind: 'a front controller in `public/`' },
  { id: 'sinatra-classic', framework: 'sinatra', generator: 'the introduction of Sinatra', kind: 'a classic app' },
  { id: 'sinatra-modular', framework: 'sinatra', generator: 'the introduction of Sinatra', kind: 'a modular app' },
  { id: 'rails-new', framework: 'rails', generator: '`rails new` of Debian', kind: 'without the parts whose gems Debian lacks' },
] as const satisfies readonly TestedProject[];
