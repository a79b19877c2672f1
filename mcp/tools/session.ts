import { z } from 'zod';
import { refusal } from '../../contract/client.ts';
import { anyEntered } from '../../contract/entered.ts';
import { hasCode } from '../../contract/errors.ts';
import { findCaller, findInbox, inboxAt } from '../caller.ts';
import { Address, defineTool, READS, type SignIn } from '../tool.ts';

export const getStatus = defineTool({
  name: 'get_status',
  title: 'Service and sign-in',
  description:
    'Returns which Email Auth service this is, whether it runs in local mode (where the domain localhost works without a registration), who is signed in and how many websites they have. Call it first when you do not know these. No other tool depends on it: register_domain, list_frameworks, scaffold_integration, verify_token and search_docs work without a sign-in.',
  annotations: READS,
  input: z.object({}),
  output: z.object({
    version: z.string(),
    host: z.string().describe('Origin of the service'),
    mode: z.enum(['local', 'production']).describe('local: for development; the domain localhost works without a registration'),
    inbox: z.string().optional().describe('Where to read the emails, when they stay on the machine of the service'),
    authenticated: z.boolean(),
    email: z.string().optional().describe('The address that is signed in'),
    siteCount: z.number().int(),
    unavailableTools: z.array(z.string()).describe('Tools that the documentation names and this session does not have'),
  }),
  async run(_, { client, host, signIn, readOnly }, signal) {
    const [about, caller] = await Promise.all([client.about({}, { signal }), findCaller(client, signal)]);
    return {
      version: about.version,
      host,
      mode: about.mode,
      inbox: inboxAt(host, about),
      authenticated: caller !== null,
      email: caller?.email,
      siteCount: caller?.sites.length ?? 0,
      // A read-only session also lacks every tool that writes.
      unavailableTools: signIn === null && !readOnly ? ['start_login', 'complete_login'] : [],
    };
  },
  text({ host, version, mode, inbox, email, siteCount, unavailableTools }, { howToSignIn, readOnly }) {
    const sites = siteCount === 1 ? '1 website' : `${siteCount} websites`;
    return [
      `Email Auth ${version} at ${host}, in ${mode} mode.`,
      mode === 'local'
        ? 'The domain localhost works without a registration: call scaffold_integration with it.'
        : 'Register a domain with register_domain.',
      ...(inbox ? [`Emails stay on the machine of the service: read them at ${inbox}.`] : []),
      email
        ? `Signed in as ${email}, who has ${sites}.`
        : `Not signed in; only the tools for own websites and the account need a sign-in. ${howToSignIn}`,
      ...(unavailableTools.length > 0
        ? [`This session has no ${unavailableTools.join(' and ')}: each request carries its credentials.`]
        : []),
      ...(readOnly ? ['This session is read-only: it has no tool that changes something.'] : []),
    ].join(' ');
  },
});

// These tools send an email and store a sign-in, so a read-only session does not have them.

export const startLogin = defineTool({
  name: 'start_login',
  title: 'Start a sign-in',
  description: `Emails a ${anyEntered('adjective')} code to the person you work for, so that this session can see and change their own websites. Ask for their address first. Then ask them for the code and call complete_login with it. Only the tools for own websites need this.`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  input: z.strictObject({ email: Address }),
  output: z.object({
    loginId: z.string().describe('For complete_login'),
    expiresAt: z.string().describe('When the code expires, ISO 8601'),
    inbox: z.string().optional().describe('Where the person reads the email, when it stays on the machine of the service'),
  }),
  isOffered: ({ signIn }) => signIn !== null,
  async run({ email }, context, signal) {
    // Not null: isOffered checks that.
    const login = await (context.signIn as SignIn).start(email);
    return { ...login, inbox: await findInbox(context, signal) };
  },
  text: ({ loginId, expiresAt, inbox }) =>
    `${inbox ? `The email with a ${anyEntered('adjective')} code stays on the machine of the service: the person reads it at ${inbox}.` : `An email with a ${anyEntered('adjective')} code is on its way.`} Ask the person for the code, then call complete_login with loginId ${loginId} and the code, before ${expiresAt}.`,
});

export const completeLogin = defineTool({
  name: 'complete_login',
  title: 'Finish a sign-in',
  description: `Signs this session in with the ${anyEntered('adjective')} code from the email of start_login, which the person tells you. Afterwards the tools for their websites, applications, devices and account work, such as list_sites. Never guess a code: after five wrong ones it can no longer be used.`,
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    loginId: z.string().min(1).max(512).describe('What start_login returned'),
    code: z
      .string()
      .min(1)
      .max(512)
      .describe(`The ${anyEntered('size')} of the email`),
  }),
  output: z.object({ email: z.string().describe('The address that is signed in') }),
  isOffered: ({ signIn }) => signIn !== null,
  async run({ loginId, code }, { signIn }) {
    try {
      return await (signIn as SignIn).complete(loginId, code);
    } catch (error) {
      if (!hasCode(error, 'bad_code')) throw error;
      throw refusal(
        'bad_code',
        error.message,
        'Ask the person for the code of the newest email; after five wrong codes call start_login again.',
      );
    }
  },
  text: ({ email }) => `Signed in as ${email}. list_sites shows their websites.`,
});
