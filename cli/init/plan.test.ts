import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findRoute } from './plan.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'emailauth-routes-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const find = (framework: string, file: string, text = '', written: string[] = []) => {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
  return findRoute('/login', { root, framework, entries: [file], written: new Set(written) });
};

test.each([
  ['nextjs', 'app/login/page.tsx'],
  ['nextjs', 'src/app/(auth)/login/page.js'],
  ['nextjs', 'app/login/route.ts'],
  ['nextjs', 'pages/login.tsx'],
  ['nextjs', 'src/pages/login/index.jsx'],
  ['sveltekit', 'src/routes/login/+page.svelte'],
  ['sveltekit', 'src/routes/(public)/login/+server.ts'],
  ['nuxt', 'app/pages/login.vue'],
  ['nuxt', 'server/routes/login.get.ts'],
  ['astro', 'src/pages/login.astro'],
  ['astro', 'src/pages/Login/index.astro'],
])('%s serves /login by %s', (framework, file) => expect(find(framework, file)).toBe(file));

test.each([
  ['nextjs', 'app/login/layout.tsx'],
  ['nextjs', 'app/login/form.tsx'],
  ['nextjs', 'app/shop/login/page.tsx'],
  ['nextjs', 'pages/login-help.tsx'],
  ['nextjs', 'pages/api/login.ts'],
  ['sveltekit', 'src/routes/login/form.svelte'],
  ['sveltekit', 'src/routes/login/+layout.svelte'],
  ['astro', 'src/components/login.astro'],
])('%s does not serve /login by %s', (framework, file) => expect(find(framework, file)).toBeNull());

test.each([
  ["app.get('/login', handler)"],
  ['router.route("/login").get(handler)'],
  ['@app.route("/login", methods=["GET"])'],
  ["    path('login/', views.login),"],
  ['http.HandleFunc("/login", login)'],
  ['mux.HandleFunc("GET /login", login)'],
  ["get '/login' do"],
])('a route in the entry file is found: %s', (text) => expect(find('express', 'app.js', `first\n${text}\n`)).toBe('app.js'));

test.each([
  ["// app.get('/login', handler)"],
  ["app.get('/login-help', handler)"],
  ["app.post('/login', handler)"],
  ["response.redirect('/login')"],
  ['<a href="/login">'],
])('other code in the entry file is not a route: %s', (text) => expect(find('express', 'app.js', `first\n${text}\n`)).toBeNull());

test('a file that the integration writes does not count', () =>
  expect(find('nextjs', 'app/login/route.ts', '', ['app/login/route.ts'])).toBeNull());
