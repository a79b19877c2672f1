import { completable, type GetPromptResult, type McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { oneLine } from '../contract/check.ts';
import { assistantPrompt } from '../templates/prompt.ts';
import type { McpContext } from './context.ts';
import { frameworkIds, frameworkNamed, integrationFor } from './integration.ts';
import { debugCallback, reviewIntegration } from './prompt-texts.ts';
import { orProtocolError } from './resources.ts';
import { LOCALHOST, ownDomains } from './sites.ts';

/** What a person can start with one choice in their client. */
export function registerPrompts(server: McpServer, context: McpContext): void {
  const { client, host: origin } = context;
  const framework = completable(z.string().max(40).describe('Id of the framework, such as express'), (typed) =>
    frameworkIds.filter((id) => id.startsWith(typed.toLowerCase())),
  );
  const domain = completable(z.string().trim().min(1).max(253).describe('Domain of the site, or localhost'), async (typed) => [
    ...(await ownDomains(client, typed)),
    ...(LOCALHOST.startsWith(typed) ? [LOCALHOST] : []),
  ]);

  server.registerPrompt(
    'add_email_login',
    {
      title: 'Add email sign-in to this app',
      description: 'The whole task for one framework and domain: how it works, the files to start from and how to test it.',
      argsSchema: z.object({ framework, domain }),
    },
    (given) =>
      orProtocolError(context, async () => {
        const chosen = frameworkNamed(given.framework);
        const filling = { origin, domain: given.domain };
        const task = assistantPrompt(chosen, await integrationFor(chosen, filling), filling);
        return messages(task, 'If the domain is not registered yet, call register_domain. When the app runs, call check_integration.');
      }),
  );

  server.registerPrompt(
    'debug_callback',
    {
      title: 'Find out why a sign-in fails',
      description: 'Goes through what can go wrong between the mail and the protected page, in the order in which to look.',
      argsSchema: z.object({ domain, symptom: z.string().max(1_000).describe('What happens instead').optional() }),
    },
    ({ domain: site, symptom }) => messages(debugCallback(origin, oneLine(site, 253), symptom && oneLine(symptom, 1_000))),
  );

  server.registerPrompt(
    'review_integration',
    {
      title: 'Review an integration',
      description: 'A list of what must hold in the code of an app that signs people in with Email Auth.',
      argsSchema: z.object({ domain }),
    },
    ({ domain: site }) => messages(reviewIntegration(origin, oneLine(site, 253))),
  );
}

const messages = (...texts: string[]): GetPromptResult => ({
  messages: texts.map((text) => ({ role: 'user', content: { type: 'text', text } })),
});
