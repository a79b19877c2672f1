import { javascriptFrameworks } from './catalog-javascript.ts';
import { otherFrameworks } from './catalog-others.ts';
import type { EnvironmentVariable, Framework } from './framework.ts';

/** The environment variables of every integration; `render` fills in their values. */
export const environment: readonly EnvironmentVariable[] = [
  {
    name: 'SESSION_SECRET',
    value: '',
    purpose: 'Signs the session cookie: 64 random characters, for example from `openssl rand -hex 32`.',
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
