import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Request, Router } from 'express';
import { z } from 'zod';
import { Branding } from '../../contract/account.ts';
import { Fault } from '../../contract/errors.ts';
import { SIGN_IN_PATHS, type SignInSteps } from '../../contract/pages.ts';
import { LanguageChoice } from '../../contract/signin.ts';
import { BrandingFields } from '../../contract/websites.ts';
import type { Accounts } from '../developers/accounts.ts';
import { deviceNamesOf } from '../developers/browser.ts';
import type { Mailer } from '../mail/mailer.ts';
import { MAIL_PREVIEW_POLICY, previewMail } from '../mail/preview.ts';
import { type Account, parse } from '../platform/http/endpoint.ts';
import { dataHeaders, requireOwnOrigin } from '../platform/http/protection.ts';
import { queryOf } from '../platform/http/reading.ts';
import { mailBrandOf, type WebsiteBrandings } from '../websites/branding.ts';
import { displayDomainOf } from '../websites/domains.ts';
import { iconUrlOf } from '../websites/managers.ts';
import type { WebApp } from './web-app.ts';

type Parts = {
  publicUrl: string;
  secure: boolean;
  origins: ReadonlySet<string>;
  accountOf(request: IncomingMessage, response: ServerResponse): Promise<Account | null>;
  mailer: Mailer;
  accounts: Accounts;
  brandings: WebsiteBrandings;
  web: WebApp;
};

/** Returns the headers of an email that a page of this origin frames. */
const mailHeadersOf = (secure: boolean) => ({
  ...dataHeaders(secure),
  'Content-Security-Policy': MAIL_PREVIEW_POLICY,
  'X-Frame-Options': 'SAMEORIGIN',
  'Content-Type': 'text/html; charset=utf-8',
});

/** Returns the account that is signed in. @throws Fault foreign_origin, sign_in_needed */
async function requireAccount(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<Account> {
  requireOwnOrigin(request, 'person', parts.origins);
  const account = await parts.accountOf(request, response);
  if (!account) throw new Fault('sign_in_needed');
  return account;
}

const SAMPLE_HOST = 'shop.example';
const AccountQuery = Branding.extend({ language: LanguageChoice });
type AccountInput = z.output<typeof AccountQuery> & { device?: string };

/** GET /dashboard/settings/preview: the preview of sign-in emails in the settings, for a person who is signed in. */
export function previewRouter(parts: Parts): Router {
  const headers = mailHeadersOf(parts.secure);
  const router = Router();
  router.get('/dashboard/settings/preview', async (request, response) => {
    const account = await requireAccount(parts, request, response);
    const input = parse(AccountQuery, { fromName: '', logoUrl: '', ...queryOf(request) });
    const device = await deviceNamesOf(request.headers['user-agent'] ?? '');
    const html = await renderPreview(parts, account, { ...input, ...(device && { device }) });
    response.set(headers).end(html);
  });
  return router;
}

/** Returns the email that visitors of an account's proven websites would get, with the branding of the account. */
async function renderPreview(parts: Parts, account: Account, { language, ...brandAndDevice }: AccountInput): Promise<string> {
  const host = (await parts.accounts.newestBrandedDomain(account)) ?? SAMPLE_HOST;
  return previewMail(parts, { recipient: account.email, language, data: { host, ...brandAndDevice } }, null);
}

/** Returns step 1 in a browser that has begun nothing. @param query of its page */
const firstStep = (query: string): SignInSteps => ({
  base: SIGN_IN_PATHS.signIn,
  query,
  destination: null,
  step: 'address',
  email: '',
  attempt: null,
  attemptMissing: false,
  signedInAs: null,
});

const WebsiteQuery = BrandingFields.extend({ language: LanguageChoice, theme: z.enum(['light', 'dark']).default('light') });

/**
 * GET /dashboard/websites/DOMAIN/preview/page and …/mail: the sign-in page and the email of a website with a branding that is not saved,
 * for a person who manages it. They show what visitors see once the domain is proven.
 */
export function brandingPreviewRouter(parts: Parts): Router {
  const { publicUrl, brandings, mailer } = parts;
  const headers = mailHeadersOf(parts.secure);
  const read = async (request: Request, response: ServerResponse) => {
    const account = await requireAccount(parts, request, response);
    const input = parse(WebsiteQuery, { name: '', accent: '', fromName: '', logoUrl: '', ...queryOf(request) });
    return { account, input, ...(await brandings.forPreview(account, String(request.params.domain))) };
  };
  const router = Router();
  router.get('/dashboard/websites/:domain/preview/mail', async (request, response) => {
    const { account, input, website, defaults } = await read(request, response);
    const { language, theme, ...branding } = input;
    const device = await deviceNamesOf(request.headers['user-agent'] ?? '');
    const data = { host: website.domain, ...mailBrandOf(branding, defaults, iconUrlOf(website)), ...(device && { device }) };
    const sample = { recipient: account.email, language, data };
    response.set(headers).end(await previewMail({ publicUrl, mailer }, sample, theme));
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
    parts.web.sendSignInPreview(response, { path: SIGN_IN_PATHS.signIn, search, language, target, steps: firstStep(search) }, theme);
  });
  return router;
}
