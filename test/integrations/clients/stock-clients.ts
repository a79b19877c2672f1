import { existsSync } from 'node:fs';
import type { Page } from 'playwright';
import { runs } from '../templates/recipe.ts';
import { python } from '../templates/recipes/python.ts';
import { ruby } from '../templates/recipes/ruby.ts';
import { byPaths, type Claims, jsonOf, type StockClient } from './stock-client.ts';

const paths = { callback: '/callback', afterLogout: '/' };
const node = { available: () => true, command: [process.execPath, 'app.js'], paths };

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Auth.js asks on a page of its own, and refreshes when the app updates the session. */
const authJs: StockClient = {
  ...byPaths,
  ...node,
  id: 'auth-js',
  name: 'Auth.js (@auth/express)',
  paths: { callback: '/auth/callback/emailauth', afterLogout: '/' },
  async login(page, url) {
    await page.goto(`${url}/auth/signin`);
    await press(page, 'Sign in with Email');
  },
  async refresh(page, url) {
    await page.goto(`${url}/`);
    const session = await page.evaluate(async () => {
      const { csrfToken } = (await (await fetch('/auth/csrf')).json()) as { csrfToken: string };
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch('/auth/session', { method: 'POST', headers, body: JSON.stringify({ csrfToken, data: {} }) });
      return (await response.json()) as { user: Claims; error?: string };
    });
    return session.error ? { error: session.error } : session.user;
  },
};

/** OmniAuth begins a sign-in by a POST. */
const omniauth: StockClient = {
  ...byPaths,
  id: 'sinatra',
  name: 'omniauth_openid_connect in Sinatra',
  isWithoutPkce: true,
  debianPackages: ['ruby-sinatra', 'ruby-webrick', 'ruby-omniauth-openid-connect'],
  available: () => runs(ruby, '-e', 'require "sinatra/base"; require "webrick"; require "omniauth_openid_connect"'),
  command: [ruby, '-S', 'rackup', '--host', '127.0.0.1', '--port', '{port}', '--server', 'webrick'],
  paths: { callback: '/auth/emailauth/callback', afterLogout: '/' },
  async login(page, url) {
    await page.goto(`${url}/login`);
    await press(page, 'Log in');
  },
};

/** Its module has a page of its own for everything: OIDCInfoHook, refresh and logout. */
const apache: StockClient = {
  id: 'apache',
  name: 'mod_auth_openidc in Apache',
  debianPackages: ['apache2', 'libapache2-mod-auth-openidc'],
  available: () => existsSync('/usr/lib/apache2/modules/mod_auth_openidc.so') && runs('/usr/sbin/apache2', '-v'),
  // Its log goes to a pipe: /dev/stderr cannot be opened where that is a socket.
  command: ['sh', '-c', 'DIRECTORY=$PWD /usr/sbin/apache2 -X -d . -f server.conf 2>&1 | cat'],
  paths: { callback: '/private/openid', afterLogout: '/', backchannelLogout: '/private/openid?logout=backchannel' },
  // Another address each time, because the browser may have the static page in its cache.
  login: (page, url) => page.goto(`${url}/private/?${Date.now()}`),
  async user(page, url) {
    const response = await page.goto(`${url}/private/openid?info=json`);
    return response?.status() === 200 ? (await response.json()).userinfo : null;
  },
  async refresh(page, url) {
    const { access_token } = await jsonOf(page, `${url}/private/openid?info=json`);
    const back = encodeURIComponent(`${url}/`);
    await page.goto(`${url}/private/openid?refresh=${back}&access_token=${encodeURIComponent(access_token)}`);
    const error = new URL(page.url()).searchParams.get('error_code');
    return error ? { error } : (await jsonOf(page, `${url}/private/openid?info=json`)).userinfo;
  },
  logout: (page, url) => page.goto(`${url}/private/openid?logout=${encodeURIComponent(`${url}/`)}`),
};

/** Runs in the browser, as a public client: a registered website. */
const oidcClientTs: StockClient = {
  ...node,
  id: 'oidc-client-ts',
  name: 'oidc-client-ts in a page',
  command: [process.execPath, 'server.js'],
  isWebsite: true,
  paths: { callback: '/', afterLogout: '/' },
  async login(page, url) {
    await page.goto(url);
    await press(page, 'Log in');
  },
  user: (page, url) => page.goto(url).then(() => textOf(page, '#user')),
  async refresh(page) {
    await page.evaluate("document.querySelector('#refreshed').textContent = ''");
    await press(page, 'Refresh');
    return textOf(page, '#refreshed');
  },
  async logout(page, url) {
    await page.goto(url);
    await press(page, 'Log out');
  },
};

async function textOf(page: Page, selector: string) {
  const element = page.locator(selector).filter({ hasText: /./ });
  return JSON.parse((await element.textContent()) ?? 'null');
}

const flask: StockClient = {
  ...byPaths,
  id: 'flask',
  name: 'Authlib in Flask',
  debianPackages: ['python3-flask', 'python3-authlib', 'python3-requests'],
  available: () => runs(python, '-c', 'import flask, requests, authlib.integrations.flask_client'),
  command: [python, '-m', 'flask', 'run', '--port', '{port}'],
  paths,
};

const django: StockClient = {
  ...byPaths,
  id: 'django',
  name: 'Authlib in Django',
  debianPackages: ['python3-django', 'python3-authlib', 'python3-requests'],
  available: () => runs(python, '-c', 'import django, requests, authlib'),
  command: [python, '-m', 'django', 'runserver', '--noreload', '--settings', 'site_settings', '--pythonpath', '.', '127.0.0.1:{port}'],
  paths,
  refresh: undefined,
};

/** Clients in web apps: each signs the same kind of visitor in, in a browser of its own. */
export const stockClients: readonly StockClient[] = [
  { ...byPaths, ...node, id: 'openid-client', name: 'openid-client' },
  authJs,
  {
    ...byPaths,
    ...node,
    id: 'express-openid-connect',
    name: 'express-openid-connect',
    // It gives its own address without a slash.
    paths: { ...paths, afterLogout: '', backchannelLogout: '/backchannel-logout' },
  },
  { ...byPaths, ...node, id: 'passport', name: 'passport-openidconnect', isWithoutPkce: true },
  oidcClientTs,
  flask,
  django,
  omniauth,
  apache,
];
