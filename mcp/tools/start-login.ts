import { z } from 'zod';
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
  }),
  offered: ({ signIn }) => signIn !== null,
  async run({ email }, { signIn }) {
    // `offered` says that there is one.
    return (signIn as NonNullable<typeof signIn>).start(email);
  },
  text: ({ loginId, expiresAt }) =>
    `A mail with a six-digit code is on its way. Ask the person to read the code to you, then call complete_login with loginId ${loginId} and the code, before ${expiresAt}.`,
});
