import type { Framework } from './framework.ts';
import type { Integration, TemplateValues } from './render.ts';

/** Returns one message with which an AI assistant can add the sign-in to a project: the task, the protocol, the files and the tests. */
export function assistantPrompt(
  { name }: Framework,
  { files, env, commands, nextSteps }: Integration,
  { origin, domain }: TemplateValues,
): string {
  const code = files.map(({ path, contents }) => `--- ${path}\n${contents.trimEnd()}`).join('\n\n');
  return `Add passwordless email sign-in to this ${name} project, for the domain ${domain}, with the service at ${origin}.

How it works:
1. /login creates a random state, stores it in an HttpOnly cookie and redirects to ${origin}/auth with forward_url (a URL on ${domain} that contains the state) and language.
2. The service emails a link and a code. After the sign-in, the visitor returns to forward_url with one more parameter, token.
3. The callback compares the state with the cookie first, and rejects the request if they differ.
4. Then the server requests GET ${origin}/api/verify-token?token=…&domain=${domain}. The response is {"email": "…", "valid": true, "domain": "${domain}"} or {"email": null, "valid": false, "reason": "used" | "expired" | "unknown" | "other_domain"}. A token can be verified once, within an hour. Always send domain.
5. If it is valid, open a new session for the email address and redirect to a URL without token and state.
6. If the service does not respond within 5 seconds, show a page with status 503 that offers to try again.

Do not install a package of the service: there is none. If the project already has sessions or users, use those. Every call is described at ${origin}/openapi.json.

Start from these files, and adapt them to the conventions of the project:

${code}
${environmentText(env)}
Then:
${[...commands.map((command) => `Run: ${command}`), ...nextSteps].map((step) => `- ${step}`).join('\n')}
- Add a "Login with Email" link to /login where visitors expect it.
- Test: a sign-in reaches the protected page; the same callback URL opened again is rejected; one with a different state is rejected.
`;
}

function environmentText(env: Integration['env']): string {
  if (env.length === 0) return '';
  const lines = env.map(({ name, value, purpose }) => `- ${name}${value && `=${value}`} (${purpose})`);
  return `\nEnvironment:\n${lines.join('\n')}\n`;
}
