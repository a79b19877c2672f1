import type { Page } from 'playwright';

/** An app with a client of OpenID Connect that others wrote, configured as its documentation says. */
export type StockClient = {
  /** Its folder in `apps/`. */
  id: string;
  /** The name of the library in docs/guide/openid-connect.md. */
  name: string;
  /** Debian packages that it needs, which `npm run test:clients` installs as root. */
  debianPackages?: readonly string[];
  /** Whether this machine has its language; npm packages are fetched when they are missing. */
  available(): boolean;
  /** Command that starts the app in a copy of its folder. In it, `{port}` is replaced by the port. */
  command: string[];
  /** Whether it cannot send PKCE. */
  isWithoutPkce?: true;
  /** Whether it is a registered website, whose client ID is its origin; otherwise an application with a secret. */
  isWebsite?: true;
  /** Paths of the app that its client is registered with. */
  paths: { callback: string; afterLogout: string; backchannelLogout?: string };
  /** Begins a sign-in in a page. */
  login(page: Page, url: string): Promise<unknown>;
  /** Returns the claims of the signed-in user; null when nobody is signed in. */
  user(page: Page, url: string): Promise<Claims | null>;
  /** Refreshes the tokens. Absent when the app keeps none. @returns claims, or the error of the provider */
  refresh?(page: Page, url: string): Promise<Partial<Claims> & { error?: string }>;
  logout(page: Page, url: string): Promise<unknown>;
};

export type Claims = { sub: string; email?: string };

/** Opens a path of an app and returns the JSON of its response. */
export async function jsonOf(page: Page, url: string) {
  const response = await page.goto(url);
  return response?.json();
}

/** How most apps behave: each step is a path. */
export const byPaths: Pick<StockClient, 'login' | 'user' | 'logout'> & { refresh: NonNullable<StockClient['refresh']> } = {
  login: (page, url) => page.goto(`${url}/login`),
  user: (page, url) => jsonOf(page, `${url}/`),
  refresh: (page, url) => jsonOf(page, `${url}/refresh`),
  logout: (page, url) => page.goto(`${url}/logout`),
};
