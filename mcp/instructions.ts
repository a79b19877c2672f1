import type { McpContext } from './context.ts';

/** What a model reads before it chooses a tool: what this is, the shortest way, and what the session cannot do. */
export function instructions({
  host,
  readOnly,
  howToSignIn,
  besideApp,
}: Pick<McpContext, 'host' | 'readOnly' | 'howToSignIn' | 'besideApp'>): string {
  const register = readOnly
    ? `The domain has to be registered. This session is read-only: the person registers it at ${host}.`
    : 'register_domain with the domain and the address of the person.';
  const check = besideApp
    ? 'Start the app, call check_integration, and mend what fails.'
    : 'Once the app is online and its domain is proven (get_site shows how), call check_integration, and mend what fails.';
  const own = `list_sites, get_site, ${readOnly ? '' : 'update_site, delete_site, '}get_stats and check_integration`;
  return `Email Auth at ${host} gives any site a passwordless sign-in: the visitor gives an address, opens the mailed link, and comes back to the site with a token that the site's server verifies once.
To add it to an app:
1. ${register} While the app runs on localhost, and get_status says local mode, skip this: localhost is registered.
2. scaffold_integration with the framework and the domain; write its files into the project.
3. ${check}
Then let the person sign in once. search_docs answers questions.
${own} are for the sites of whoever is signed in${besideApp ? '; check_integration for localhost needs nobody' : ''}. ${howToSignIn}`;
}
