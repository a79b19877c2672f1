import { createHash } from 'node:crypto';

/** The result of opening an emailed link, for the browser that opened it. */
export type Outcome = 'signed_in' | 'failed' | 'wrong_state' | 'wrong_service' | 'not_found';

/** Where the person started the sign-in. */
export type Origin = 'terminal' | 'assistant';

const PAGES: Record<Outcome, { status: number; title: string; text: string; assistantText?: string }> = {
  signed_in: {
    status: 200,
    title: 'You are signed in',
    text: 'The terminal continues by itself. You can close this window.',
    assistantText: 'Tell your assistant to continue. You can close this window.',
  },
  failed: {
    status: 400,
    title: 'The sign-in did not work',
    text: 'The terminal shows the reason. You can close this window and start again there.',
    assistantText: 'You can close this window. Ask your assistant for another email.',
  },
  wrong_state: {
    status: 400,
    title: 'This link belongs to another sign-in',
    text: 'You are not signed in. Open the link of the newest email, or type its six digits in the terminal.',
    assistantText: 'You are not signed in. Open the link of the newest email, or tell your assistant its six digits.',
  },
  wrong_service: {
    status: 400,
    title: 'This link comes from another service',
    text: 'You are not signed in. The terminal shows which service it uses.',
    assistantText: 'You are not signed in. Ask your assistant which service it uses.',
  },
  not_found: {
    status: 404,
    title: 'There is nothing here',
    text: 'The terminal is waiting for the link of a sign-in email. You can close this window.',
    assistantText: 'Your assistant is waiting for the link of a sign-in email. You can close this window.',
  },
};

const STYLE = `
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: grid; place-items: center; padding: 1.5rem;
  background: light-dark(#fcfcfb, #101211); color: light-dark(#141816, #edf0ee); font: 1rem/1.6 system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; padding: 1.75rem; border: 1px solid light-dark(#e2e5e1, #2a2f2d); border-radius: 0.75rem;
  background: light-dark(#ffffff, #161918); overflow-wrap: anywhere; }
h1 { margin: 0 0 0.5rem; font-size: 1.375rem; line-height: 1.3; }
p { margin: 0; color: light-dark(#59625d, #a0a9a4); }
`;

// The page runs no script and loads nothing.
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Returns the page for an outcome, with its headers. It contains nothing from the request. */
export function renderPage(outcome: Outcome, startedIn: Origin): { status: number; headers: Record<string, string>; body: string } {
  const { status, title, text, assistantText = text } = PAGES[outcome];
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Email Auth</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${startedIn === 'assistant' ? assistantText : text}</p>
</main>
</body>
</html>
`;
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      'Content-Security-Policy': POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'Cache-Control': 'no-store',
      Connection: 'close',
    },
    body,
  };
}
