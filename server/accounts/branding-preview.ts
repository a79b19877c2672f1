import type { z } from 'zod';
import type { Branding } from '../../contract/account.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import type { Account } from '../http/serve.ts';
import type { Mail } from '../mail/mail.ts';
import type { Mailer } from '../mail/mailer.ts';
import { escapeHtml } from '../mail/mime.ts';
import type { Accounts } from './accounts.ts';

export type PreviewInput = z.output<typeof Branding> & { language: LanguageCode };

const SAMPLE_SITE = 'shop.example';
const SAMPLE_CODE = '123456';

// Above the mail's own look, in the portal's colours.
const styleSheet = `.envelope{margin:0;padding:14px 20px;border-bottom:1px solid #e2e5e1;background:#fff;color:#141816;font:14px/22px system-ui,sans-serif}
.envelope div{display:flex;gap:12px}.envelope dt{flex:none;width:64px;color:#59625d}.envelope dd{margin:0;min-width:0;overflow-wrap:anywhere}
.envelope span{color:#59625d}
@media (prefers-color-scheme:dark){.envelope{border-color:#2a2f2d;background:#161918;color:#edf0ee}.envelope dt,.envelope span{color:#a0a9a4}}`;

/**
 * Shows the mail that visitors of an account's proven websites would get: the very message that the mailer writes, filled with a link
 * and a code that sign nobody in, under its sender and subject.
 * @returns a function that gives an HTML document
 */
export function createBrandingPreview(parts: {
  publicUrl: string;
  mailer: Pick<Mailer, 'write'>;
  accounts: Pick<Accounts, 'newestBrandedSite'>;
}) {
  const { publicUrl, mailer, accounts } = parts;
  return async (account: Account, { fromName, logoUrl, language }: PreviewInput): Promise<string> => {
    const host = (await accounts.newestBrandedSite(account)) ?? SAMPLE_SITE;
    const mail: Mail = { id: 'preview', kind: 'sign_in', recipient: account.email, language, data: { host, fromName, logoUrl } };
    const message = await mailer.write(mail, { link: `${publicUrl}/auth/link?t=preview`, code: SAMPLE_CODE });
    const { default: PostalMime } = await import('postal-mime');
    const { html = '', subject = '', from } = await PostalMime.parse(message);
    const envelope = `<dl class="envelope"><div><dt>From</dt><dd>${escapeHtml(from?.name ?? '')} <span>&lt;${escapeHtml(from?.address ?? '')}&gt;</span></dd></div>
<div><dt>Subject</dt><dd>${escapeHtml(subject)}</dd></div></dl>`;
    // The frame's sandbox opens no window, so that the sample's links lead nowhere.
    return html
      .replace('<head>', () => `<head><base target="_blank"><style>${styleSheet}</style>`)
      .replace(/<body[^<>]*>/, (body) => `${body}${envelope}`);
  };
}
