import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Request, Router } from 'express';
import { z } from 'zod';
import { Fault } from '../../contract/errors.ts';
import type { SignInPage } from '../../contract/pages.ts';
import { LanguageChoice } from '../../contract/signin.ts';
import { BrandingFields } from '../../contract/websites.ts';
import { dataHeaders, requireOwnOrigin } from '../http/protection.ts';
import { queryOf } from '../http/reading.ts';
import type { Account } from '../http/serve.ts';
import type { Mailer } from '../mail/mailer.ts';
import { PREVIEW_POLICY, previewMail } from '../mail/mailer.ts';
import { mailBrandOf, type WebsiteBrandings } from './branding.ts';
import { displayDomainOf } from './domains.ts';
import { iconUrlOf } from './presentation.ts';

const PreviewQuery = BrandingFields.extend({ language: LanguageChoice, theme: z.enum(['light', 'dark']).default('light') });

type Parts = {
  publicUrl: string;
  secure: boolean;
  origins: ReadonlySet<string>;
  accountOf(request: IncomingMessage, response: ServerResponse): Promise<Account | null>;
  brandings: Pick<WebsiteBrandings, 'forPreview'>;
  mailer: Pick<Mailer, 'write'>;
  /** Returns the browser and system of a User-Agent, or null. */
  deviceNamesOf(userAgent: string): Promise<string | null>;
  /** Sends a sign-in page without scripts, which pages of this origin may frame. */
  sendPreview(response: ServerResponse, page: SignInPage, theme: 'light' | 'dark'): void;
};

/**
 * GET /dashboard/websites/DOMAIN/preview/page and …/mail: the sign-in page and the email of a website with a branding that is not saved,
 * for a person who manages it. They show what visitors see once the domain is proven.
 */
export function brandingPreviewRouter(parts: Parts): Router {
  const { publicUrl, brandings, mailer, deviceNamesOf } = parts;
  const mailHeaders = {
    ...dataHeaders(parts.secure),
    'Content-Security-Policy': PREVIEW_POLICY,
    'X-Frame-Options': 'SAMEORIGIN',
    'Content-Type': 'text/html; charset=utf-8',
  };
  const read = async (request: Request, response: ServerResponse) => {
    requireOwnOrigin(request, 'person', parts.origins);
    const account = await parts.accountOf(request, response);
    if (!account) throw new Fault('sign_in_needed');
    const input = inputOf(request);
    return { account, input, ...(await brandings.forPreview(account, String(request.params.domain))) };
  };
  const router = Router();
  router.get('/dashboard/websites/:domain/preview/mail', async (request, response) => {
    const { account, input, website, defaults } = await read(request, response);
    const { language, theme, ...branding } = input;
    const device = await deviceNamesOf(request.headers['user-agent'] ?? '');
    const data = { host: website.domain, ...mailBrandOf(branding, defaults), ...(device && { device }) };
    const sample = { recipient: account.email, language, data };
    response.set(mailHeaders).end(await previewMail({ publicUrl, mailer }, sample, theme));
  });
  router.get('/dashboard/websites/:domain/preview/page', async (request, response) => {
    const { input, website } = await read(request, response);
    const { language, theme, name, accent } = input;
    const { domain: host } = website;
    const search = `?${new URLSearchParams({ forward_url: `https://${host}/`, language })}`;
    const target = {
      kind: 'site',
      host,
      displayHost: displayDomainOf(host),
      iconUrl: iconUrlOf(website),
      name: name || null,
      accent,
    } as const;
    parts.sendPreview(response, { path: '/auth', search, language, target }, theme);
  });
  return router;
}

/** @throws Fault bad_request */
function inputOf(request: IncomingMessage): z.output<typeof PreviewQuery> {
  const input = PreviewQuery.safeParse({ name: '', accent: '', fromName: '', logoUrl: '', ...queryOf(request) });
  if (input.success) return input.data;
  const [issue] = input.error.issues;
  const field = issue.path.join('.');
  throw new Fault('bad_request', { field, message: `${field}: ${issue.message}` });
}
