import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { z } from 'zod';
import { Branding } from '../../contract/account.ts';
import { Fault } from '../../contract/errors.ts';
import { LanguageChoice } from '../../contract/signin.ts';
import { dataHeaders, requireOwnOrigin } from '../http/protection.ts';
import { queryOf } from '../http/reading.ts';
import type { Account } from '../http/serve.ts';
import type { Mailer } from '../mail/mailer.ts';
import { PREVIEW_POLICY, previewMail } from '../mail/mailer.ts';
import type { Accounts } from './accounts.ts';
import { deviceNamesOf } from './browser.ts';

const SAMPLE_HOST = 'shop.example';
const PreviewQuery = Branding.extend({ language: LanguageChoice });
type PreviewInput = z.output<typeof PreviewQuery> & { device?: string };

type PreviewParts = { publicUrl: string; mailer: Pick<Mailer, 'write'>; accounts: Pick<Accounts, 'newestBrandedDomain'> };

/** GET /dashboard/settings/preview: the preview of sign-in emails in the settings, for a person who is signed in. */
export function previewRouter(
  parts: PreviewParts & {
    secure: boolean;
    origins: ReadonlySet<string>;
    accountOf(request: IncomingMessage, response: ServerResponse): Promise<Account | null>;
  },
): Router {
  const headers = {
    ...dataHeaders(parts.secure),
    'Content-Security-Policy': PREVIEW_POLICY,
    'X-Frame-Options': 'SAMEORIGIN',
    'Content-Type': 'text/html; charset=utf-8',
  };
  const router = Router();
  router.get('/dashboard/settings/preview', async (request, response) => {
    requireOwnOrigin(request, 'person', parts.origins);
    const account = await parts.accountOf(request, response);
    if (!account) throw new Fault('sign_in_needed');
    const device = await deviceNamesOf(request.headers['user-agent'] ?? '');
    const html = await renderPreview(parts, account, { ...inputOf(request), ...(device && { device }) });
    response.set(headers).end(html);
  });
  return router;
}

/** @throws Fault bad_request */
function inputOf(request: IncomingMessage): PreviewInput {
  const input = PreviewQuery.safeParse({ fromName: '', logoUrl: '', ...queryOf(request) });
  if (input.success) return input.data;
  const [issue] = input.error.issues;
  const field = issue.path.join('.');
  throw new Fault('bad_request', { field, message: `${field}: ${issue.message}` });
}

/** Returns the email that visitors of an account's proven websites would get, with the branding of the account. */
async function renderPreview(parts: PreviewParts, account: Account, { language, ...brandAndDevice }: PreviewInput): Promise<string> {
  const host = (await parts.accounts.newestBrandedDomain(account)) ?? SAMPLE_HOST;
  return previewMail(parts, { recipient: account.email, language, data: { host, ...brandAndDevice } }, null);
}
