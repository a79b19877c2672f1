import { z } from 'zod';
import type { SignIn } from '../context.ts';
import { hasCode, refusal } from '../result.ts';
import { findInbox } from '../service.ts';
import { defineTool } from '../tool.ts';
import { Address } from './fields.ts';

// These tools send an email and store a sign-in, so a read-only session does not have them.

export const startLogin = defineTool({
  name: 'start_login',
  title: 'Start a sign-in',
  description:
    'Emails a six-digit code to the person you work for, so that this session can see and change their own websites. Ask for their address first. Then ask them for the code and call complete_login with it. Only the tools for own websites need this.',
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
    `${inbox ? `The email with a six-digit code stays on the machine of the service: the person reads it at ${inbox}.` : 'An email with a six-digit code is on its way.'} Ask the person for the code, then call complete_login with loginId ${loginId} and the code, before ${expiresAt}.`,
});

export const completeLogin = defineTool({
  name: 'complete_login',
  title: 'Finish a sign-in',
  description:
    'Signs this session in with the six-digit code from the email of start_login, which the person tells you. Afterwards the tools for their websites, applications, devices and account work, such as list_sites. Never guess a code: after five wrong ones it can no longer be used.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    loginId: z.string().min(1).max(512).describe('What start_login returned'),
    code: z.string().min(6).max(20).describe('The six digits of the email'),
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
