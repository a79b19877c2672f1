import { z } from 'zod';
import { inboxOf } from '../inbox.ts';
import { defineTool } from '../tool.ts';
import { Address } from './fields.ts';

export const startLogin = defineTool({
  name: 'start_login',
  title: 'Begin a sign-in',
  description:
    'Mails a six-digit code to the person you work for, so that this session can see and change their own sites. Ask for their address first. Then ask them for the code and call complete_login with it. Only the tools on own sites need this.',
  // Neither this nor complete_login is in a read-only session: they mail somebody and keep a sign-in.
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  input: z.strictObject({ email: Address }),
  output: z.object({
    loginId: z.string().describe('For complete_login'),
    expiresAt: z.string().describe('Until when the code is good, ISO 8601'),
    inbox: z.string().optional().describe('Where the person reads the mail, when it does not leave the machine of the service'),
  }),
  offered: ({ signIn }) => signIn !== null,
  async run({ email }, context, signal) {
    // `offered` says that there is one.
    const login = await (context.signIn as NonNullable<typeof context.signIn>).start(email);
    return { ...login, inbox: await inboxOf(context, signal) };
  },
  text: ({ loginId, expiresAt, inbox }) =>
    `${inbox ? `The mail with a six-digit code stays on the machine of the service: the person reads it at ${inbox}.` : 'A mail with a six-digit code is on its way.'} Ask the person to read the code to you, then call complete_login with loginId ${loginId} and the code, before ${expiresAt}.`,
});
