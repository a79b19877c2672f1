import { ENTERED, mapEntered } from '../../contract/entered.ts';
import type { LanguageCode } from '../../contract/languages.ts';
import { SIGN_IN_PATHS } from '../../contract/pages.ts';
import { escapeHtml } from './composition.ts';
import type { Mailer } from './mailer.ts';

/** The policy of a preview: the email has its own styles and shows the logo from any address; it runs no scripts and opens no links. */
export const MAIL_PREVIEW_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src https: 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox";

const SAMPLE_NUMBER = 123_456;

// The header above the email, in the colors of the portal.
const styleSheet = `.envelope{margin:0;padding:14px 20px;border-bottom:1px solid #e2e5e1;background:#fff;color:#141816;font:14px/22px system-ui,sans-serif}
.envelope div{display:flex;gap:12px}.envelope dt{flex:none;width:64px;color:#59625d}.envelope dd{margin:0;min-width:0;overflow-wrap:anywhere}
.envelope span{color:#59625d}
@media (prefers-color-scheme:dark){.envelope{border-color:#2a2f2d;background:#161918;color:#edf0ee}.envelope dt,.envelope span{color:#a0a9a4}}`;

type Sample = { recipient: string; language: LanguageCode; data: Record<string, string> };

/**
 * Returns a sign-in email of a website as an HTML document with sender and subject above it. The mailer writes it as it writes any
 * other, with a link and a code that are not valid.
 * @param theme of the document; null: that of the reader
 */
export async function previewMail(
  { publicUrl, mailer }: { publicUrl: string; mailer: Mailer },
  sample: Sample,
  theme: 'light' | 'dark' | null,
): Promise<string> {
  const message = await mailer.write(
    { id: 'preview', kind: 'sign_in', ...sample },
    { link: `${publicUrl}${SIGN_IN_PATHS.link}?t=preview`, entered: mapEntered((method) => ENTERED[method].valueAt(SAMPLE_NUMBER)) },
  );
  const { default: PostalMime } = await import('postal-mime');
  const { html = '', subject = '', from } = await PostalMime.parse(message);
  const envelope = `<dl class="envelope"><div><dt>From</dt><dd>${escapeHtml(from?.name ?? '')} <span>&lt;${escapeHtml(from?.address ?? '')}&gt;</span></dd></div>
<div><dt>Subject</dt><dd>${escapeHtml(subject)}</dd></div></dl>`;
  // The sandbox of the frame opens no windows, so the sample's links do nothing.
  const document = html
    .replace('<head>', () => `<head><base target="_blank"><style>${styleSheet}</style>`)
    .replace(/<body[^<>]*>/, (body) => `${body}${envelope}`);
  return theme ? inTheme(document, theme) : document;
}

/** Makes the media queries of an email apply to one theme, whatever the reader's is. */
function inTheme(html: string, theme: 'light' | 'dark'): string {
  return html
    .replaceAll('(prefers-color-scheme:dark)', theme === 'dark' ? 'all' : 'not all')
    .replaceAll('color-scheme:light dark', `color-scheme:${theme}`);
}
