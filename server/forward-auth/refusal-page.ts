import type { Decision } from './forward-auth.ts';
import { SIGN_OUT_PATH } from './forward-auth.ts';

type Refused = Extract<Decision, { kind: 'refused' }>;

/** The page has no script and no style of its own. */
export const PAGE_HEADERS = { 'Content-Type': 'text/html; charset=utf-8', 'X-Robots-Tag': 'noindex' };

/** Returns the page of a request that is refused, on the host of the app. */
export function refusalPage({ reason, email = '' }: Refused, host: string): string {
  const [title, text, link] = {
    not_registered: ['This site cannot sign anybody in', `${host} is not registered. Its operator has to register the domain first.`, ''],
    not_allowed: [
      'You may not open this site',
      `You are signed in as ${email}, and this address is not on the list of ${host}.`,
      `<a href="${SIGN_OUT_PATH}">Sign in with another address</a>`,
    ],
    other_browser: [
      'This sign-in began in another browser',
      `Nothing has happened. Open ${host} here, and sign in again.`,
      `<a href="/">Open ${escapeHtml(host)}</a>`,
    ],
  }[reason];
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>${title}</title></head>
<body><h1>${title}</h1><p>${escapeHtml(text)}</p><p>${link}</p></body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
