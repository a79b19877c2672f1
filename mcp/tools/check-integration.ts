import { z } from 'zod';
import { oneLine } from '../../contract/check.ts';
import type { SiteCheck } from '../context.ts';
import { refusal } from '../result.ts';
import { LOCALHOST } from '../sites.ts';
import { defineTool } from '../tool.ts';
import { OwnDomain } from './fields.ts';

export const checkIntegration = defineTool({
  name: 'check_integration',
  title: 'Check an integration',
  description:
    'Looks at the sign-in of an app from outside, as a visitor would, and tells for each thing whether it is right and how to mend it. Call it once the files of scaffold_integration are in place and the app runs; mend what fails and call it again. It looks only at sites of whoever is signed in: over HTTP only at those with a proven domain; where this server runs on the person’s own machine also at others, and at localhost (give url then). It uses no token up.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    domain: OwnDomain.describe('Domain of one of your own sites or a subdomain of it, or localhost'),
    url: z
      .string()
      .max(2048)
      .describe('Address of the callback: https://<domain>/auth/callback unless given; localhost needs it. A query in it is left out')
      .optional(),
  }),
  output: z.object({
    domain: z.string(),
    passed: z.boolean().describe('Whether nothing failed and the callback was seen to refuse; of what could not be told, detail says why'),
    checks: z.array(
      z.object({
        id: z.string(),
        ok: z.boolean().nullable().describe('null: nothing could be told, and detail says why'),
        detail: z.string().describe('What was seen; may quote the app'),
        fix: z.string().nullable(),
      }),
    ),
  }),
  async run({ domain, url }, { besideApp, checkSite }, signal) {
    // Nobody but the app's own machine knows its port, and without the callback there is little to look at.
    if (domain.toLowerCase() === LOCALHOST && url === undefined && besideApp) {
      throw refusal(
        'bad_request',
        'url is missing.',
        'For localhost give the address of the callback, such as http://localhost:3000/auth/callback.',
      );
    }
    const checks = (await checkSite({ domain, url }, signal)).map(inOneLine);
    const refuses = checks.some(({ id, ok }) => id === 'callback' && ok === true);
    return { domain, passed: refuses && checks.every(({ ok }) => ok !== false), checks };
  },
  text: ({ domain, passed, checks }) =>
    [
      passed
        ? `${domain}: nothing failed. Of what is UNKNOWN, see whether it matters.`
        : `${domain}: not right yet. Mend what failed, and what is UNKNOWN of the callback, then call check_integration again.`,
      ...checks.map(({ id, ok, detail, fix }) => `- ${verdictOf(ok)} ${id}: ${detail}${fix ? ` Fix: ${fix}` : ''}`),
    ].join('\n'),
});

const verdictOf = (ok: boolean | null) => (ok === null ? 'UNKNOWN' : ok ? 'PASS' : 'FAIL');

/** Details may quote what a server over there answered. */
const inOneLine = ({ id, ok, detail, fix }: SiteCheck): SiteCheck => ({
  id: oneLine(id, 60),
  ok,
  detail: oneLine(detail, 300),
  fix: fix === null ? null : oneLine(fix, 300),
});
