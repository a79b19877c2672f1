import { z } from 'zod';
import { isAnswer, refusal } from '../result.ts';
import { defineTool } from '../tool.ts';

export const completeLogin = defineTool({
  name: 'complete_login',
  title: 'Finish a sign-in',
  description:
    'Signs this session in with the six-digit code that the person read out of the mail of start_login. Afterwards list_sites, get_site, update_site, delete_site, check_integration and get_stats work for their sites. Never guess a code: after five wrong ones it is dead.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    loginId: z.string().min(1).max(512).describe('What start_login answered'),
    code: z.string().min(6).max(20).describe('The six digits of the mail'),
  }),
  output: z.object({ email: z.string().describe('Who is signed in') }),
  offered: ({ signIn }) => signIn !== null,
  async run({ loginId, code }, { signIn }) {
    try {
      // `offered` says that there is one.
      return await (signIn as NonNullable<typeof signIn>).complete(loginId, code);
    } catch (error) {
      if (!isAnswer(error, 'bad_code')) throw error;
      throw refusal(
        'bad_code',
        error.message,
        'Ask the person for the code of the newest mail; after five wrong codes call start_login again.',
      );
    }
  },
  text: ({ email }) => `Signed in as ${email}. list_sites shows their sites.`,
});
