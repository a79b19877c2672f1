import { z } from 'zod';
import { hasCode } from '../result.ts';
import { findByDomain } from '../service.ts';
import { defineTool } from '../tool.ts';
import { Domain } from './fields.ts';
import { Proof } from './sites.ts';

export const proveDomain = defineTool({
  name: 'prove_domain',
  title: 'Prove a domain',
  description:
    'Checks whether the DNS record or the file that proves a domain is published, and returns what to publish where it is not. A proof lifts the limits of a new website, allows its branding and check_integration over HTTP, and transfers a domain that another account registered without proving it. Call it without preparation for the record to publish, then again once the person or you have published it; DNS usually takes minutes.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({ domain: Domain.describe('Root domain to prove: of one of your own websites, or one to take over') }),
  output: z.object({
    domain: z.string().describe('As A-label'),
    verified: z.boolean(),
    reason: z.string().optional().describe('Why it is not verified'),
    proof: Proof,
  }),
  async run({ domain }, { client }, signal) {
    const own = findByDomain(await client.listWebsites({}, { signal }), domain);
    if (own?.verified) return { domain: own.domain, verified: true, proof: toProof(own.proof) };
    const claim = own ?? (await client.claimWebsite({ domain }, { signal }));
    try {
      const site = await client.proveWebsite({ domain: claim.domain }, { signal });
      return { domain: site.domain, verified: true, proof: toProof(site.proof) };
    } catch (error) {
      if (!hasCode(error, 'not_proven')) throw error;
      // A failed check may replace the value, so that an old record proves nothing.
      const { proof } = await client.claimWebsite({ domain: claim.domain }, { signal });
      return { domain: claim.domain, verified: false, reason: error.message, proof: toProof(proof) };
    }
  },
  text: ({ domain, verified, reason, proof }) =>
    verified
      ? `${domain} is proved.`
      : `${domain} is not proved: ${reason}
Publish one of these, then call prove_domain again:
- the TXT record ${proof.record} with the value ${proof.value}
- the file ${proof.fileUrl} with the body ${proof.fileBody}`,
});

const toProof = ({ record, value, fileUrl, fileBody }: z.input<typeof Proof>): z.input<typeof Proof> => ({
  record,
  value,
  fileUrl,
  fileBody,
});
