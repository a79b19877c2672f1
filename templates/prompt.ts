import type { Framework } from './framework.ts';
import type { Filling, Integration } from './render.ts';

/**
 * What an AI assistant needs to add the sign-in to a project, in one message: the task, the protocol in six sentences, the
 * files to work from and how to prove that it works.
 */
export function assistantPrompt(
  { name }: Framework,
  { files, env, commands, nextSteps }: Integration,
  { origin, domain }: Filling,
): string {
  const code = files.map(({ path, contents }) => `--- ${path}\n${contents.trimEnd()}`).join('\n\n');
  return `Add passwordless email sign-in to this ${name} project, for the domain ${domain}, with the service at ${origin}.

How it works:
1. /login makes a random state, keeps it in an HttpOnly cookie and redirects to ${origin}/auth with forward_url (an address on ${domain} that carries the state) and language.
2. The service mails a link and a code. Afterwards the visitor is back at forward_url with one more parameter, token.
3. The callback compares the state with the cookie before anything else, and refuses what does not match.
4. Then it asks, from the server: GET ${origin}/api/verify-token?token=…&domain=${domain}. The answer is {"email": "…", "valid": true, "domain": "${domain}"} or {"email": null, "valid": false, "reason": "used" | "expired" | "unknown" | "other_domain"}. A token can be verified once, within an hour. Always send domain.
5. When it is valid, open a new session for the email and redirect to an address without token and state.
6. When the service does not answer within 5 seconds, show a page with status 503 that offers to try again.

Use no package of the service: there is none. If the project has sessions or users already, use those. Every call is described at ${origin}/openapi.json.

Work from these files, and fit them to the conventions of the project:

${code}
${environmentOf(env)}
Then:
${[...commands.map((command) => `Run: ${command}`), ...nextSteps].map((step) => `- ${step}`).join('\n')}
- Add a "Login with Email" link to /login where visitors look for it.
- Test: a sign-in reaches the protected page; the same callback opened again is refused; a callback with another state is refused.
`;
}

function environmentOf(env: Integration['env']): string {
  if (env.length === 0) return '';
  const lines = env.map(({ name, value, purpose }) => `- ${name}${value && `=${value}`} (${purpose})`);
  return `\nEnvironment:\n${lines.join('\n')}\n`;
}
