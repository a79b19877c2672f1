import type { McpContext } from './context.ts';

/** What a model reads before it chooses a tool: what this is, the shortest way, and what the session cannot do. */
export function instructions({ host, readOnly, howToSignIn }: Pick<McpContext, 'host' | 'readOnly' | 'howToSignIn'>): string {
  const first = readOnly
    ? `The domain must be registered: this session is read-only, so the person registers it at ${host}.`
    : 'register_domain with the domain and the address of the person, unless the app runs on localhost: where get_status says local mode, localhost works at once.';
  return `Email Auth at ${host} gives any site a passwordless sign-in: the visitor gives an address, opens the mailed link, and comes back to the site with a token that the site's server verifies once.
To add it to an app:
1. ${first}
2. scaffold_integration with the framework and the domain; write its files into the project.
3. Start the app and call check_integration; mend what fails.
Then let the person sign in once. search_docs answers questions.
list_sites, get_site, ${readOnly ? '' : 'update_site, delete_site, '}get_stats, and check_integration for anything but localhost, are for own sites and need a sign-in. ${howToSignIn}`;
}
