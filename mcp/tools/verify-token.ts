import { z } from 'zod';
import { VerifyRequest } from '../../contract/signin.ts';
import { defineTool } from '../tool.ts';
import { Token } from './fields.ts';

const REASONS = {
  used: 'It was already verified, and a token can only be used once. The callback may have verified it.',
  expired: 'It has expired: a token is valid for one hour. Sign in again for a new one.',
  unknown: 'This service did not issue such a token. Pass the whole value of the token parameter.',
  other_domain: 'It is for another website, which can still verify it. Give the domain of the forward_url.',
} as const;

export const verifyToken = defineTool({
  name: 'verify_token',
  title: 'Verify a token',
  description:
    'Verifies a token at the service and returns the email address it was issued for. This uses up the token: the app can no longer verify it, so call it only for debugging, with a token that the app does not need. In an app, the callback does this on its server. Give domain as well: a token for another website is then refused without being used up.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({
    token: Token,
    domain: VerifyRequest.shape.domain.describe('The website that the token must be for, such as shop.example or localhost'),
  }),
  output: z.object({
    email: z.string().nullable().describe('The address that signed in; null: the token is not valid'),
    valid: z.boolean(),
    domain: z.string().nullable().describe('The website that the token was for; null: the token is not valid'),
    reason: z.enum(['used', 'expired', 'unknown', 'other_domain']).optional().describe('Why it is not valid'),
  }),
  async run(input, { client }, signal) {
    const result = await client.verifyTokenByPost(input, { signal });
    return result.valid ? result : { ...result, domain: null };
  },
  text: ({ email, domain, reason }) =>
    reason ? `Not valid. ${REASONS[reason]}` : `Valid: ${email} signed in at ${domain}. The token is used up.`,
});
