import type { IncomingMessage, ServerResponse } from 'node:http';
import { Router } from 'express';
import type { z } from 'zod';
import { Branding } from '../../contract/account.ts';
import { Fault } from '../../contract/errors.ts';
import { LanguageChoice } from '../../contract/language-schemas.ts';
import { dataHeaders, requireOwnOrigin } from '../http/protection.ts';
import { queryOf } from '../http/reading.ts';
import type { Account } from '../http/serve.ts';
import type { Mail } from '../mail/mail.ts';
import type { Mailer } from '../mail/mailer.ts';
import { escapeHtml } from '../mail/mime.ts';
import type { Accounts } from './accounts.ts';
import { deviceNamesOf } from './browser.ts';

// The email has its own styles and shows the logo from any address; it runs no scripts and opens no links.
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox";

const SAMPLE_HOST = 'shop.example';
const SAMPLE_CODE = '123456';

// The header above the email, in the colors of the portal.
const styleSheet = `.envelope{margin:0;padding:14px 20px;border-bottom:1px solid #e2e5e1;background:#fff;color:#141816;font:14px/22px system-ui,sans-serif}
.envelope div{display:flex;gap:12px}.envelope dt{flex:none;width:64px;color:#59625d}.envelope dd{margin:0;min-width:0;overflow-wrap:anywhere}
.envelope span{color:#59625d}
@media (prefers-color-scheme:dark){.envelope{border-color:#2a2f2d;background:#161918;color:#edf0ee}.envelope dt,.envelope span{color:#a0a9a4}}`;

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
    'Content-Security-Policy': POLICY,
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

/**
 * Returns the email that visitors of an account's proven websites would get, as an HTML document with sender and subject above it.
 * The mailer writes it as it writes any other, with the person's own browser, and a link and a code that are not valid.
 */
async function renderPreview(parts: PreviewParts, account: Account, { language, ...brandAndDevice }: PreviewInput): Promise<string> {
  const { publicUrl, mailer, accounts } = parts;
  const host = (await accounts.newestBrandedDomain(account)) ?? SAMPLE_HOST;
  const mail: Mail = { id: 'preview', kind: 'sign_in', recipient: account.email, language, data: { host, ...brandAndDevice } };
  const message = await mailer.write(mail, { link: `${publicUrl}/auth/link?t=preview`, code: SAMPLE_CODE });
  const { default: PostalMime } = await import('postal-mime');
  const { html = '', subject = '', from } = await PostalMime.parse(message);
  const envelope = `<dl class="envelope"><div><dt>From</dt><dd>${escapeHtml(from?.name ?? '')} <span>&lt;${escapeHtml(from?.address ?? '')}&gt;</span></dd></div>
<div><dt>Subject</dt><dd>${escapeHtml(subject)}</dd></div></dl>`;
  // The sandbox of the frame opens no windows, so the sample's links do nothing.
  return html
    .replace('<head>', () => `<head><base target="_blank"><style>${styleSheet}</style>`)
    .replace(/<body[^<>]*>/, (body) => `${body}${envelope}`);
}
