import { z } from 'zod';
import { oneLine } from '../../diagnostics/check.ts';
import type { WebsiteCheck } from '../../diagnostics/website-checks.ts';
import { refusal } from '../result.ts';
import { LOCALHOST } from '../service.ts';
import { defineTool, OwnDomain } from '../tool.ts';

export const checkIntegration = defineTool({
  name: 'check_integration',
  title: 'Check an integration',
  description:
    'Checks the sign-in of an app as a visitor and an attacker would use it, and reports for each point whether it is right and how to fix it. Call it once the files of scaffold_integration are in place and the app runs; fix what fails and call it again. It only checks websites of the signed-in account: over HTTP only those with a proved domain; where this server runs on the developer’s machine also others, and localhost (give url then). A public website is checked from outside, without an email: what that cannot show is UNKNOWN. On localhost, with a service in local mode, it also signs test visitors in through the inbox and attacks the callback, as `emailauth try` does.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: z.strictObject({
    domain: OwnDomain.describe('Domain of one of your own websites or a subdomain of it, or localhost'),
    url: z
      .string()
      .max(2048)
      .describe('Address of the callback: https://<domain>/auth/callback by default; localhost needs it. Its query is dropped')
      .optional(),
    loginPath: z.string().max(200).describe('Path that starts a sign-in, if not /login').optional(),
    page: z.string().max(200).describe('Path of a page for signed-in visitors, if not /account').optional(),
  }),
  output: z.object({
    domain: z.string(),
    passed: z.boolean().describe('Whether no check failed, and the callback was seen to refuse a made-up token with a valid state'),
    checks: z.array(
      z.object({
        id: z.string(),
        ok: z.boolean().nullable().describe('null: the check could not decide, and detail gives the reason'),
        detail: z.string().describe('What was found; may quote the app'),
        fix: z.string().nullable(),
      }),
    ),
  }),
  async run({ domain, url, loginPath, page }, { besideApp, checkWebsite }, signal) {
    // The port of a local app is unknown, and without the callback there is little to check.
    if (domain.toLowerCase() === LOCALHOST && url === undefined && besideApp) {
      throw refusal(
        'bad_request',
        'url is missing.',
        'For localhost give the address of the callback, such as http://localhost:3000/auth/callback.',
      );
    }
    const checks = (await checkWebsite({ domain, url, loginPath, page }, signal)).map(inOneLine);
    const isRefusing = SEEN.every((seen) => checks.some(({ id, ok }) => id === seen && ok === true));
    return { domain, passed: isRefusing && checks.every(({ ok }) => ok !== false), checks };
  },
  text: ({ domain, passed, checks }) =>
    [
      passed ? `${domain}: no check failed.` : `${domain}: not right yet. Fix what failed, then call check_integration again.`,
      ...describeUnknown(checks),
      ...checks.map(({ id, ok, detail, fix }) => `- ${statusOf(ok)} ${id}: ${detail}${fix ? ` Fix: ${fix}` : ''}`),
    ].join('\n'),
});

/** Without these, nothing is known about the integration. */
const SEEN = ['callback', 'callback_refusal'];

/** Returns which checks could not decide, so that no one takes them for passed. */
function describeUnknown(checks: readonly WebsiteCheck[]): string[] {
  const unknown = checks.filter(({ ok }) => ok === null).map(({ id }) => id);
  return unknown.length === 0 ? [] : [`${unknown.length} UNKNOWN, neither passed nor failed: ${unknown.join(', ')}.`];
}

const statusOf = (ok: boolean | null) => (ok === null ? 'UNKNOWN' : ok ? 'PASS' : 'FAIL');

/** Details may quote the response of a foreign server. */
const inOneLine = ({ id, ok, detail, fix }: WebsiteCheck): WebsiteCheck => ({
  id: oneLine(id, 60),
  ok,
  detail: oneLine(detail, 300),
  fix: fix === null ? null : oneLine(fix, 300),
});
