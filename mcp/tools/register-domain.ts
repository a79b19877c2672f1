import { z } from 'zod';
import { normalDomain } from '../../contract/rules.ts';
import { nextSteps } from '../../templates/next-steps.ts';
import type { McpContext } from '../context.ts';
import { numberedList } from '../integration.ts';
import { hasCode, refusal } from '../result.ts';
import { findByDomain, findCaller, findInbox, isServed, LOCALHOST } from '../service.ts';
import { defineTool } from '../tool.ts';
import { Address, Domain, NextSteps } from './fields.ts';

type Registered = { domain: string; email?: string; status: 'active' | 'already registered'; authUrl: string };

export const registerDomain = defineTool({
  name: 'register_domain',
  title: 'Register a domain',
  description:
    'Registers the domain of a website, so that its visitors can sign in by email. It needs no sign-in and takes effect immediately; the linked address gets an email with a link that keeps the domain. Ask the person for both, never invent an address. The domain localhost needs no registration where the service runs in local mode. Then call scaffold_integration.',
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
    const [registered, ...firstSteps] = await register(input, context, signal);
    return { ...registered, nextSteps: [...firstSteps, ...stepsFor(registered, context.besideApp)] };
  },
  text: ({ domain, status, nextSteps: steps }) =>
    [`${domain} is ${status === 'active' ? 'registered' : status}. Visitors can sign in now.`, numberedList(steps)].join('\n'),
});

/** Registers the domain. @returns what is registered, and the steps that follow from how it was registered */
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
      'Register the real domain, or run your own service during development: `emailauth start`.',
    );
  }
  const caller = await findCaller(client, signal);
  const own = caller && findByDomain(caller.sites, domain);
  if (own) return [{ domain: own.domain, email: caller.email, status: 'already registered', authUrl }];
  try {
    // The address of the signed-in account is confirmed already, so no email is needed.
    if (caller?.email === email) {
      const site = await client.createWebsite({ domain }, { signal });
      return [{ domain: site.domain, email, status: 'active', authUrl }];
    }
    const registered = await client.registerWebsite({ domain, email }, { signal });
    const inbox = await findInbox(context, signal);
    const where = inbox ? `the email to ${registered.email} is at ${inbox}` : `an email is on its way to ${registered.email}`;
    return [{ ...registered, status: 'active' }, `Tell the person: ${where}; its link, opened within 7 days, keeps the domain.`];
  } catch (error) {
    if (!hasCode(error, 'domain_taken')) throw error;
    // The owner is not disclosed, not even to the owner's own address before a sign-in.
    return [
      { domain: normalDomain(domain) ?? domain, status: 'already registered', authUrl },
      `If another account registered it and it belongs to the person, they sign in at ${host}/developer and prove it under My Websites.`,
    ];
  }
}

function stepsFor({ domain, authUrl }: Registered, besideApp: boolean): string[] {
  const scaffold = `Call scaffold_integration with the framework of the app and domain ${domain}, and write the files that it returns.`;
  if (domain === LOCALHOST) return [scaffold];
  return [
    scaffold,
    besideApp
      ? 'Once the app is online, call check_integration.'
      : 'Once the app is online and the domain is proved (prove_domain), call check_integration.',
    ...nextSteps({ domain, authUrl }).map((step, i) => `By hand instead, ${i + 1} of 3: ${step}`),
  ];
}
