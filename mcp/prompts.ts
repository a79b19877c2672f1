import { completable, type GetPromptResult, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { LOCALHOST, MAX_HOST_LENGTH } from '../contract/urls.ts';
import { oneLine } from '../diagnostics/check.ts';
import { assistantPrompt } from '../templates/render.ts';
import { completeOwnDomains } from './caller.ts';
import { frameworkIds, renderIntegration, requireFramework } from './integration.ts';
import { orProtocolError } from './resources.ts';
import type { McpContext } from './tool.ts';

/** Registers the prompts, which a person starts from a menu of their client. */
export function registerPrompts(server: McpServer, context: McpContext): void {
  const { client, host: origin } = context;
  const framework = completable(z.string().max(40).describe('Id of the framework, such as express'), (typed) =>
    frameworkIds.filter((id) => id.startsWith(typed.toLowerCase())),
  );
  const domain = completable(
    z.string().trim().min(1).max(MAX_HOST_LENGTH).describe('Domain of the website, or localhost'),
    async (typed) => [...(await completeOwnDomains(client, typed)), ...(LOCALHOST.startsWith(typed) ? [LOCALHOST] : [])],
  );

  server.registerPrompt(
    'add_email_login',
    {
      title: 'Add email sign-in to this app',
      description: 'The whole task for one framework and domain: how it works, the files to start from and how to test it.',
      argsSchema: z.object({ framework, domain }),
    },
    (args) =>
      orProtocolError(context, async () => {
        const chosen = requireFramework(args.framework);
        const filling = { origin, domain: args.domain };
        const task = assistantPrompt(chosen, await renderIntegration(chosen, filling), filling);
        return messages(task, 'If the domain is not registered yet, call register_domain. When the app runs, call check_integration.');
      }),
  );

  server.registerPrompt(
    'debug_callback',
    {
      title: 'Find out why a sign-in fails',
      description: 'Goes through what can go wrong between the email and the protected page, in the order in which to check it.',
      argsSchema: z.object({ domain, symptom: z.string().max(1_000).describe('What happens instead').optional() }),
    },
    (args) => messages(debugCallback(origin, oneLine(args.domain, MAX_HOST_LENGTH), args.symptom && oneLine(args.symptom, 1_000))),
  );

  server.registerPrompt(
    'review_integration',
    {
      title: 'Review an integration',
      description: 'A checklist for the code of an app that signs people in with Email Auth.',
      argsSchema: z.object({ domain }),
    },
    (args) => messages(reviewIntegration(origin, oneLine(args.domain, MAX_HOST_LENGTH))),
  );
}

const messages = (...texts: string[]): GetPromptResult => ({
  messages: texts.map((text) => ({ role: 'user', content: { type: 'text', text } })),
});

/** How to find out why visitors do not get from the email to the protected page. */
const debugCallback = (origin: string, domain: string, symptom?: string) =>
  `Find out why signing in with Email Auth (${origin}) fails at ${domain}, and fix it.${symptom ? `\nWhat happens: ${symptom}` : ''}

1. Call check_integration for ${domain} (for localhost give url, the callback's address) and fix what it names. If it needs a sign-in or a proof of the domain that you do not have, go on.
2. Read the code of /login and of the callback, and the settings EMAILAUTH_URL and SITE_URL. EMAILAUTH_URL must be ${origin}; the host of SITE_URL must be ${domain} or, for the same registration, a subdomain of it.
3. If no email arrives, or the page says that the domain is not supported: forward_url must be https on a registered domain or its subdomain (http only for localhost, where the service runs in local mode), without user info and without a token parameter.
4. If the callback refuses the state: its cookie did not come back. It must be SameSite=Lax and not Strict, Secure only on https, with a path that covers the callback, and set on exactly the host of the callback: ${domain === LOCALHOST ? 'localhost is not 127.0.0.1' : `www.${domain} is not ${domain}`}.
5. If the callback refuses the token: the response of ${origin}/api/verify-token has a reason:
   - used: it was verified before. Look for a second call: a callback that runs twice, a reloaded page, a link fetched before the click.
   - expired: more than an hour passed.
   - unknown: it was cut off or changed in transit, or EMAILAUTH_URL names another service.
   - other_domain: the domain sent is not the host of forward_url. Take both from SITE_URL.
6. If the token is valid and the visitor is still not signed in: check the session's cookie and where the redirect after it goes.

Change one thing at a time and sign in again after each. Do not log tokens, and do not call verify_token on one that the app still needs: it uses up the token. search_docs answers what is still unclear. At the end state what was wrong, in one sentence.`;

/** What must be true of the code of an integration. */
const reviewIntegration = (origin: string, domain: string) =>
  `Review how this app signs people in with Email Auth (${origin}) at ${domain}. For each point state whether it is met, with file and line; fix what is not.

1. /login generates a random state for every sign-in, of at least 120 random bits, such as crypto.randomUUID(), and keeps it in a cookie that is HttpOnly, SameSite=Lax and, on https, Secure.
2. forward_url is built from a setting, never from the Host header or from a parameter of the request, and carries the state.
3. The callback compares the state with the cookie before anything else, refuses a missing one too, and deletes the cookie.
4. The token is verified on the server, by ${origin}/api/verify-token, and always with domain=${domain}. Without it a token of another website would sign its visitor in here.
5. Only valid: true opens a session, and only for the email of that response.
6. Every sign-in opens a new session, and its cookie is HttpOnly, SameSite=Lax and, on https, Secure.
7. Afterwards there is a redirect to an address without token and state, on the same website: never to an address from the request.
8. A service that does not respond within 5 seconds leads to a page with status 503 that offers to try again, never to a session.
9. Every protected page checks the session on the server. Logout is a POST and ends the session.
10. No token is logged, stored or passed on, and SESSION_SECRET is long, random and not in version control.

Then test it: a sign-in reaches the protected page; the same callback opened again is refused; a callback with another state is refused. check_integration checks the rest from outside.`;
