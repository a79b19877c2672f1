import { z } from 'zod';
import { languages } from '../../contract/languages.ts';
import { normalHost } from '../../contract/rules.ts';
import type { Framework } from '../../templates/framework.ts';
import type { Integration } from '../../templates/render.ts';
import type { McpContext } from '../context.ts';
import { inboxAt } from '../inbox.ts';
import { frameworkIds, frameworkNamed, integrationFor, integrationText, unknownFramework } from '../integration.ts';
import { isServed, LOCALHOST } from '../sites.ts';
import { defineTool } from '../tool.ts';
import { Domain, NextSteps } from './fields.ts';

const CALLBACK_PATH = '/auth/callback';

const codes = languages.map(({ code }) => code);

export const scaffoldIntegration = defineTool({
  name: 'scaffold_integration',
  title: 'Files for an app',
  description:
    'Gives the files that add the sign-in to an app, filled in for its framework and domain: login, callback, protected page and logout, with settings, commands and next steps. It writes nothing: put the files into the project yourself and fit them to its conventions. For development take domain localhost, for the real site its registered domain; register_domain registers one. Afterwards call check_integration.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    framework: z
      .enum(frameworkIds, {
        error: ({ input }) => (input === undefined ? 'Give the id of a framework of list_frameworks' : unknownFramework(input)),
      })
      .describe('What the app is built with; static is plain HTML with a small worker'),
    domain: Domain.describe('Where the app runs: its registered domain or a subdomain of it, or localhost for development'),
    callbackPath: z.string().max(200).describe('Path at which visitors come back: /auth/callback unless given').optional(),
    language: z.enum(codes).describe('Language of the sign-in page: en unless given').optional(),
  }),
  output: z.object({
    files: z.array(
      z.object({
        path: z.string().describe('From the root of the project'),
        role: z.string(),
        contents: z.string(),
        example: z.literal(true).optional().describe('Only shows how: a file of that name that the project has stays as it is'),
      }),
    ),
    env: z.array(z.object({ name: z.string(), value: z.string().describe('Empty: make one'), purpose: z.string() })),
    commands: z.array(z.string()).describe('To run in the project before'),
    nextSteps: NextSteps,
  }),
  async run({ framework: id, domain: given, callbackPath, language }, context, signal) {
    const framework = frameworkNamed(id);
    const domain = given.toLowerCase() === LOCALHOST ? LOCALHOST : given;
    const integration = await integrationFor(framework, { origin: context.host, domain, callbackPath, language });
    const { site: _, ...shown } = integration;
    const at = { domain: normalHost(domain) ?? domain, callbackPath: callbackPath ?? CALLBACK_PATH };
    return { ...shown, nextSteps: await stepsFor(framework, integration, at, context, signal) };
  },
  text: (integration) => integrationText('Email sign-in', integration),
});

/** What is left to do, the first things first, and how to prove that it works. */
async function stepsFor(
  framework: Framework,
  { env, site, nextSteps }: Integration,
  { domain, callbackPath }: { domain: string; callbackPath: string },
  context: McpContext,
  signal: AbortSignal,
): Promise<string[]> {
  const { client, host } = context;
  const [served, about] = await Promise.all([isServed(client, domain, signal), client.about({}, { signal })]);
  const inbox = inboxAt(host, about);
  const isLocal = domain === LOCALHOST;
  const unserved = isLocal
    ? `${host} does not serve localhost. Run a service of your own while you develop (\`emailauth start\`), or give the registered domain at which the app will be.`
    : `${domain} is not registered at ${host}: call register_domain first.`;
  return [
    ...(served ? [] : [unserved]),
    env.length > 0
      ? 'Write the files and the settings into the project. Keep the settings out of version control.'
      : 'Write the files into the project.',
    ...nextSteps,
    ...(framework.loadEnv ? [framework.loadEnv] : []),
    'Put a link to /login where visitors look for it.',
    ...(isLocal ? locally(site, callbackPath, context) : deployed(domain, site, callbackPath, context)),
    `Let the person sign in once: open ${site}/login and give an address. ${inbox ? `The mail is at ${inbox}, with a link and a code.` : 'The mail has a link and a code.'} It works when the protected page opens, and when the same callback opened again is refused.`,
  ];
}

const locally = (site: string, callbackPath: string, context: McpContext) => [
  `Start the app at ${site}; where it listens elsewhere, change SITE_URL to that.`,
  context.besideApp
    ? `Call check_integration with domain localhost and url ${site}${callbackPath}.`
    : `Ask for ${site}/login: it must set a cookie and redirect to ${context.host}/auth. check_integration cannot see your localhost from here.`,
];

const deployed = (domain: string, site: string, callbackPath: string, { host, besideApp }: McpContext) => [
  ...(/^http:/.test(host) ? [`${host} is this machine: before you deploy, set EMAILAUTH_URL to a service that is public.`] : []),
  `Deploy the app at ${site}. Then call check_integration with domain ${domain}${callbackPath === CALLBACK_PATH ? '' : ` and url ${site}${callbackPath}`}, signed in as its owner${besideApp ? '' : ', once the domain is proven'}.`,
];
