import { javascriptFrameworks } from './catalog-javascript.ts';
import { otherFrameworks } from './catalog-others.ts';
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

/**
 * Every framework that there is an integration for. The files themselves lie in the folder named by `id`; `render` fills them
 * in. The web app, the command line and the MCP server read this one list.
 */
export const frameworks: readonly Framework[] = [...javascriptFrameworks, ...otherFrameworks];

/** @returns undefined for an id that no framework has */
export const frameworkOf = (id: string): Framework | undefined => frameworks.find((framework) => framework.id === id);
