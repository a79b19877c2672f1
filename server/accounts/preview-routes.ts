import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import { Branding } from '../../contract/account.ts';
import { Fault } from '../../contract/errors.ts';
import { LanguageChoice } from '../../contract/languages.ts';
import { dataHeaders, requireOwnOrigin } from '../http/protection.ts';
import { queryOf } from '../http/reading.ts';
import type { Account } from '../http/serve.ts';
import type { PreviewInput } from './branding-preview.ts';

// The mail styles itself and shows the logo, wherever that lies; it runs nothing and leads nowhere.
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox";

const Query = Branding.extend({ language: LanguageChoice });

/** GET /dashboard/settings/preview: the frame in the settings, for somebody signed in. */
export function previewRouter(parts: {
  secure: boolean;
  origins: ReadonlySet<string>;
  accountOf(request: IncomingMessage, response: ServerResponse): Promise<Account | null>;
  preview(account: Account, input: PreviewInput): Promise<string>;
}): Router {
  const headers = {
    ...dataHeaders(parts.secure),
    'Content-Security-Policy': POLICY,
    'X-Frame-Options': 'SAMEORIGIN',
    'Content-Type': 'text/html; charset=utf-8',
  };
  const router = Router();
  router.get('/dashboard/settings/preview', async (request, response) => {
    requireOwnOrigin(request, 'person', parts.origins);
    const account = await parts.accountOf(request, response);
    if (!account) throw new Fault('sign_in_needed');
    const html = await parts.preview(account, inputOf(request));
    response.set(headers).end(html);
  });
  return router;
}

/** @throws Fault bad_request */
function inputOf(request: IncomingMessage): PreviewInput {
  const input = Query.safeParse({ fromName: '', logoUrl: '', ...queryOf(request) });
  if (input.success) return input.data;
  const [issue] = input.error.issues;
  const field = issue.path.join('.');
  throw new Fault('bad_request', { field, message: `${field}: ${issue.message}` });
}
