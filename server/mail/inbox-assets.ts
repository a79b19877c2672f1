/** /dev/inbox/inbox.js: fetches the list anew whenever the service says that a message came. */
export const inboxScript = `'use strict';
const list = document.getElementById('list');
const live = document.getElementById('live');
const chosen = list.dataset.chosen;

// The browser parses the answer itself: Trusted Types forbid to make HTML of a text.
function fetchPage(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('GET', address);
    request.responseType = 'document';
    request.onload = () => resolve(request.status === 200 ? request.response : null);
    request.onerror = reject;
    request.send();
  });
}

let latest = 0;
async function refresh() {
  const mine = ++latest;
  const answer = await fetchPage('/dev/inbox/list?chosen=' + encodeURIComponent(chosen));
  // An older answer must not replace a newer one.
  if (!answer || mine !== latest) return;
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  list.replaceChildren(...answer.body.childNodes);
  if (focused) list.querySelector('a[href="' + focused + '"]')?.focus();
}

const events = new EventSource('/dev/inbox/events');
events.onopen = () => { live.textContent = 'Live'; live.dataset.state = 'live'; };
events.onerror = () => { live.textContent = 'Reconnecting…'; live.dataset.state = 'waiting'; };
events.onmessage = () => { refresh().catch(() => {}); };
addEventListener('pagehide', () => events.close());
`;

/** /dev/inbox/inbox.css */
export const inboxStyles = `:root {
  color-scheme: light dark;
  --page: #fafafa; --pane: #ffffff; --ink: #18181b; --soft: #5f5f68; --line: #e4e4e7; --chosen: #f0f0f2; --strong: #18181b; --on-strong: #ffffff; --good: #15803d;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace;
}
@media (prefers-color-scheme: dark) {
  :root { --page: #09090b; --pane: #121214; --ink: #fafafa; --soft: #a1a1aa; --line: #2a2a2e; --chosen: #1f1f23; --strong: #fafafa; --on-strong: #18181b; --good: #4ade80; }
}
* { box-sizing: border-box; margin: 0; }
html, body { height: 100%; }
body { display: flex; flex-direction: column; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
a { color: inherit; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: -2px; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 16px; padding: 8px 20px; border-bottom: 1px solid var(--line); background: var(--pane); }
.name { padding: 10px 0; font-weight: 650; text-decoration: none; }
.about { flex: 1 1 200px; color: var(--soft); font-size: 13px; }
.live { margin-left: auto; color: var(--soft); font-size: 13px; white-space: nowrap; }
.live[data-state]::before { content: ''; display: inline-block; width: 7px; height: 7px; margin-right: 7px; border-radius: 50%; background: var(--soft); vertical-align: 1px; }
.live[data-state='live']::before { background: var(--good); }
.panes { flex: 1; min-height: 0; display: grid; grid-template-columns: minmax(260px, 340px) minmax(0, 1fr); }
.list { overflow-y: auto; border-right: 1px solid var(--line); background: var(--pane); }
.list ol { list-style: none; padding: 0; }
.list li { border-bottom: 1px solid var(--line); }
.list li a { display: block; padding: 12px 20px; text-decoration: none; }
.list li a:hover { background: var(--chosen); }
.list li a[aria-current] { background: var(--chosen); box-shadow: inset 3px 0 var(--strong); }
.subject { display: block; font-weight: 550; overflow-wrap: anywhere; }
.line { display: flex; gap: 12px; justify-content: space-between; color: var(--soft); font-size: 13px; }
.to { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.nothing { padding: 40px 20px; color: var(--soft); text-align: center; }
.message { min-width: 0; min-height: 0; display: flex; flex-direction: column; overflow-y: auto; padding: 24px 28px; }
.back { display: none; padding: 10px 0; color: var(--soft); font-size: 14px; }
h1 { font-size: 20px; line-height: 1.35; font-weight: 620; overflow-wrap: anywhere; }
dl { display: flex; flex-wrap: wrap; gap: 2px 24px; margin: 8px 0 16px; font-size: 13px; }
dl div { display: flex; gap: 8px; min-width: 0; }
dt { color: var(--soft); }
dd { overflow-wrap: anywhere; }
.ways { display: flex; flex-wrap: wrap; align-items: center; gap: 12px 20px; }
.ways:not(:has(*)) { display: none; }
.open { display: inline-flex; align-items: center; min-height: 44px; padding: 0 18px; border-radius: 8px; background: var(--strong); color: var(--on-strong); font-weight: 600; text-decoration: none; }
.code { color: var(--soft); font-size: 13px; }
.code output { margin-left: 6px; color: var(--ink); font: 600 20px/1 var(--mono); letter-spacing: 3px; user-select: all; }
.views { display: flex; gap: 20px; margin-top: 16px; border-bottom: 1px solid var(--line); }
.views a { padding: 11px 2px; margin-bottom: -1px; color: var(--soft); font-size: 14px; text-decoration: none; border-bottom: 2px solid transparent; }
.views a[aria-current] { color: var(--ink); border-color: var(--strong); }
iframe { flex: 1 0 420px; width: 100%; margin-top: 16px; border: 1px solid var(--line); border-radius: 10px; background: transparent; }
pre { margin-top: 16px; padding: 16px; border: 1px solid var(--line); border-radius: 10px; background: var(--pane); font: 13px/1.6 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 720px) {
  .panes { display: block; }
  .list { border-right: 0; }
  .reading .list, .listing .message { display: none; }
  .about { display: none; }
  .back { display: inline-block; align-self: start; }
  .message { padding: 4px 16px 24px; min-height: 80vh; }
  .bar { padding: 4px 16px; }
  .list li a { padding: 12px 16px; }
}
`;
