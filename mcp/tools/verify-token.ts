import { z } from 'zod';
import { VerifyRequest } from '../../contract/signin.ts';
import { defineTool } from '../tool.ts';
import { Token } from './fields.ts';

const REASONS = {
  used: 'It was verified before, and a token is good for one time. The callback may have verified it already.',
  expired: 'It has expired: a token is good for one hour. Sign in again for a new one.',
  unknown: 'This service has not made such a token. Take the whole value of the token parameter.',
  other_domain: 'It is for another site, which can still verify it. Give the domain that the forward_url had.',
} as const;

export const verifyToken = defineTool({
  name: 'verify_token',
  title: 'Verify a token',
  description:
    'Asks the service whose email a token stands for. This uses the token up: the app cannot verify it any more, so call it only to find a fault, with a token that nobody waits for. In the app the callback does this on its server. Give domain as well: a token for another site is then refused and kept.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    token: Token,
    domain: VerifyRequest.shape.domain.describe('The site that the token must be for, such as shop.example or localhost'),
  }),
  output: z.object({
    email: z.string().nullable().describe('Who signed in; null: the token is not valid'),
    valid: z.boolean(),
    domain: z.string().nullable().describe('The site that the token was for; null: the token is not valid'),
    reason: z.enum(['used', 'expired', 'unknown', 'other_domain']).optional().describe('Why it is not valid'),
  }),
  async run(input, { client }, signal) {
    const verdict = await client.verifyTokenByPost(input, { signal });
    return verdict.valid ? verdict : { ...verdict, domain: null };
  },
  text: ({ email, domain, reason }) =>
    reason ? `Not valid. ${REASONS[reason]}` : `Valid: ${email} signed in at ${domain}. The token is used up.`,
});
