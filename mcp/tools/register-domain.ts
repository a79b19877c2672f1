import { z } from 'zod';
import { oneLine } from '../../contract/check.ts';
import { nextSteps } from '../../templates/next-steps.ts';
import type { McpContext } from '../context.ts';
import { inboxOf } from '../inbox.ts';
import { numbered } from '../integration.ts';
import { isAnswer, refusal } from '../result.ts';
import { isServed, LOCALHOST, signedIn, siteAmong } from '../sites.ts';
import { defineTool } from '../tool.ts';
import { Address, Domain, NextSteps } from './fields.ts';

type Registered = { domain: string; email?: string; status: 'active' | 'already registered'; authUrl: string };

export const registerDomain = defineTool({
  name: 'register_domain',
  title: 'Register a domain',
  description:
    'Registers the domain of a site, so that its visitors can sign in by email. It needs no sign-in and works at once; the linked address gets a mail with a link that keeps the domain. Ask the person for both, never invent an address. The domain localhost needs no registration where the service runs in local mode. Then call scaffold_integration.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    domain: Domain,
    email: Address.describe('Address of the person who will manage the domain'),
  }),
  output: z.object({
    domain: z.string().describe('As A-label'),
    email: z.string().optional().describe('The linked address, which manages the domain'),
    status: z.enum(['active', 'already registered']),
    authUrl: z.string().describe('The sign-in page to send visitors to'),
    nextSteps: NextSteps,
  }),
  async run(input, context, signal) {
    const [registered, ...because] = await register(input, context, signal);
    return { ...registered, nextSteps: [...because, ...stepsFor(registered, context.besideApp)] };
  },
  text: ({ domain, status, nextSteps: steps }) =>
    [`${domain} is ${status === 'active' ? 'registered' : status}. Visitors can sign in at once.`, numbered(steps)].join('\n'),
});

/** @returns what is registered, and what else there is to do because of how */
async function register(
  { domain, email }: { domain: string; email: string },
  context: Pick<McpContext, 'client' | 'host'>,
  signal: AbortSignal,
): Promise<[Registered, ...string[]]> {
  const { client, host } = context;
  const authUrl = `${host}/auth`;
  if (domain.toLowerCase() === LOCALHOST) {
    if (await isServed(client, LOCALHOST, signal)) return [{ domain: LOCALHOST, status: 'already registered', authUrl }];
    throw refusal(
      'bad_domain',
      `${host} does not serve localhost.`,
      'Register the real domain, or run a service of your own while you develop: `emailauth start`.',
    );
  }
  const caller = await signedIn(client, signal);
  const own = caller && siteAmong(caller.sites, domain);
  if (own) return [{ domain: own.domain, email: caller.email, status: 'already registered', authUrl }];
  try {
    // Whoever is signed in has proved the address: no mail, and nothing to confirm.
    if (caller?.email === email) {
      const site = await client.createWebsite({ domain }, { signal });
      return [{ domain: site.domain, email, status: 'active', authUrl }];
    }
    const registered = await client.registerWebsite({ domain, email }, { signal });
    const inbox = await inboxOf(context, signal);
    const where = inbox ? `the mail to ${registered.email} is at ${inbox}` : `a mail is on its way to ${registered.email}`;
    return [{ ...registered, status: 'active' }, `Tell the person: ${where}; its link, opened within 7 days, keeps the domain.`];
  } catch (error) {
    if (!isAnswer(error, 'domain_taken')) throw error;
    // Whose it is is not told, not even to its owner, before they sign in.
    throw refusal(
      'domain_taken',
      `${oneLine(domain, 80)} is registered already.`,
      `If the person registered it, go on with scaffold_integration. If it is theirs and somebody else registered it, they sign in at ${host}/developer and prove it under My Websites.`,
    );
  }
}

function stepsFor({ domain, authUrl }: Registered, besideApp: boolean): string[] {
  const scaffold = `Call scaffold_integration with the framework of the app and domain ${domain}, and write the files that it gives.`;
  if (domain === LOCALHOST) return [scaffold];
  return [
    scaffold,
    besideApp
      ? 'Once the app is online, call check_integration.'
      : 'Once the app is online and the domain is proven (get_site shows how), call check_integration.',
    ...nextSteps({ domain, authUrl }).map((step, i) => `By hand instead, ${i + 1} of 3: ${step}`),
  ];
}
