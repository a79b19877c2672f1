import { type Request, type RequestHandler, type Response, Router } from 'express';
import { isFromThisMachine } from '../platform/http/client-address.ts';
import { requireOwnForm } from '../platform/http/protection.ts';
import { escapeHtml } from './composition.ts';
import type { Inbox, InboxMessage } from './inbox.ts';

const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
// An email may have styles and open its links in new tabs; it runs no scripts and loads nothing.
const MESSAGE_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";
const HEARTBEAT_MS = 20_000;
const MAX_QUERY = 254;

/**
 * Serves /dev/inbox: the emails of local mode, updated live, for requests from this machine; others get 404.
 * @param parts.headers of every response that is data; pages and messages replace the policy
 */
export function inboxRouter({ inbox, headers }: { inbox: Inbox; headers: Record<string, string> }): Router {
  const router = Router();
  router.use('/dev/inbox', onlyFromThisMachine, (_request, response, next) => {
    response.set(headers);
    next();
  });

  router.get('/dev/inbox', async (request, response) => {
    const query = queryOf(request);
    sendPage(response, pageHtml({ messages: await inbox.list(query), query, chosen: null }));
  });

  router.get('/dev/inbox/newest', async (request, response) => {
    const query = queryOf(request);
    const [newest] = await inbox.list(query);
    response.redirect(303, newest ? messagePath(newest.id, query) : withQuery('/dev/inbox', query));
  });

  router.post('/dev/inbox/delete', async (request, response) => {
    // Its Host header names this machine.
    requireOwnForm(request, new Set([`http://${request.headers.host}`]));
    const messages = await inbox.list(queryOf(request));
    await inbox.remove(messages.map(({ id }) => id));
    response.redirect(303, '/dev/inbox');
  });

  router.get('/dev/inbox/messages/:id', async (request, response, next) => {
    const message = await inbox.find(request.params.id);
    if (!message) return next('router');
    const view = viewOf(request.query.view);
    const raw = view === 'raw' ? ((await inbox.source(message.id)) ?? '') : '';
    const query = queryOf(request);
    sendPage(response, pageHtml({ messages: await inbox.list(query), query, chosen: { message, view, raw } }));
  });

  router.get('/dev/inbox/messages/:id/html', async (request, response, next) => {
    const message = await inbox.find(request.params.id);
    if (!message) return next('router');
    response.set('Content-Security-Policy', MESSAGE_POLICY);
    response.set('X-Frame-Options', 'SAMEORIGIN');
    send(response, 'text/html', messageDocument(message));
  });

  router.get('/dev/inbox/messages.json', async (request, response) => {
    const to = typeof request.query.to === 'string' ? request.query.to.toLowerCase() : null;
    const messages = (await inbox.list()).filter((message) => to === null || message.to.toLowerCase() === to);
    const listed = messages.map(({ id, to, subject, date, text, link, code }) => ({ id, to, subject, date, text, link, code }));
    send(response, 'application/json', JSON.stringify(listed));
  });

  router.get('/dev/inbox/events', async (request, response) => {
    response.set('Content-Type', 'text/event-stream').flushHeaders();
    const stop = await inbox.watch(() => response.write('data: changed\n\n'));
    const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS).unref();
    response.write('data: changed\n\n');
    request.on('close', () => {
      clearInterval(heartbeat);
      stop();
    });
  });

  router.get('/dev/inbox/inbox.css', (_request, response) => send(response, 'text/css', inboxStyles));
  router.get('/dev/inbox/inbox.js', (_request, response) => send(response, 'text/javascript', inboxScript));
  return router;
}

const onlyFromThisMachine: RequestHandler = (request, _response, next) => {
  if (isFromThisMachine(request)) next();
  else next('router');
};

/** Returns the text that is searched for. */
const queryOf = ({ query: { q } }: Request) => (typeof q === 'string' ? q.trim().slice(0, MAX_QUERY) : '');

const withQuery = (path: string, query: string) => (query ? `${path}?${new URLSearchParams({ q: query })}` : path);
const messagePath = (id: string, query: string) => withQuery(`/dev/inbox/messages/${id}`, query);

function viewOf(input: unknown): View {
  return input === 'text' || input === 'raw' ? input : 'html';
}

function sendPage(response: Response, html: string) {
  response.set('Content-Security-Policy', PAGE_POLICY);
  response.set('X-Frame-Options', 'DENY');
  send(response, 'text/html', html);
}

function send(response: Response, type: string, body: string) {
  response.set('Content-Type', `${type}; charset=utf-8`);
  response.end(body);
}

type View = 'html' | 'text' | 'raw';
type Chosen = { message: InboxMessage; view: View; raw: string };
type Listed = { messages: InboxMessage[]; query: string; chosen: Chosen | null };

const views: { view: View; label: string }[] = [
  { view: 'html', label: 'HTML' },
  { view: 'text', label: 'Text' },
  { view: 'raw', label: 'Raw' },
];

/** Returns the whole page: the list, and the chosen message beside it. */
function pageHtml({ messages, query, chosen }: Listed): string {
  const title = chosen ? chosen.message.subject : 'Inbox';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Email Auth inbox</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/dev/inbox/inbox.css">
<script src="/dev/inbox/inbox.js" defer></script>
</head>
<body class="${chosen ? 'reading' : 'listing'}">
<header class="bar">
<a class="name" href="/dev/inbox">Inbox</a>
<p class="about">Emails of this service in local mode. Nothing leaves this machine.</p>
<p class="live" id="live" role="status"></p>
</header>
<div class="panes">
<div class="side">
<form class="search" action="/dev/inbox" role="search">
<input type="search" name="q" value="${escapeHtml(query)}" maxlength="${MAX_QUERY}" aria-label="Search emails" placeholder="Address or text" autocomplete="off">
<button>Search</button>
</form>
<nav class="list" id="list" aria-label="Messages">
${listHtml({ messages, query, chosen })}
</nav>
</div>
<main class="message">
${chosen ? messageHtml(chosen, query) : '<p class="nothing">Choose a message.</p>'}
</main>
</div>
</body>
</html>
`;
}

function listHtml({ messages, query, chosen }: Listed): string {
  const all = query ? '<a href="/dev/inbox">Show all</a>' : '';
  if (messages.length === 0) {
    const reason = query
      ? `No email contains “${escapeHtml(query)}”.`
      : 'No email yet. Request a sign-in link, and it appears here at once.';
    return `<p class="nothing" role="status">${reason} ${all}</p>`;
  }
  const count = `${messages.length} ${messages.length === 1 ? 'email' : 'emails'}${query ? ' found' : ''}`;
  return `<div class="summary"><span role="status">${count}</span>${all}
<a href="${withQuery('/dev/inbox/newest', query)}">Open newest</a>
<form method="post" action="${withQuery('/dev/inbox/delete', query)}"><button>Delete ${query ? 'these' : 'all'}</button></form></div>
<ol>${messages.map((message) => rowHtml(message, query, message.id === chosen?.message.id)).join('')}</ol>`;
}

/** Returns the email itself, for the sandboxed frame. */
function messageDocument({ html, text }: InboxMessage): string {
  // Every link opens outside the frame, also those with another target.
  return `<base target="_blank">${html || `<pre>${linked(text)}</pre>`}`;
}

function rowHtml({ id, subject, to, date }: InboxMessage, query: string, current: boolean): string {
  return `<li><a href="${messagePath(id, query)}"${current ? ' aria-current="page"' : ''}>
<span class="subject">${escapeHtml(subject)}</span>
<span class="line"><span class="to">${escapeHtml(to)}</span> ${timeHtml(date)}</span>
</a></li>`;
}

function messageHtml({ message, view, raw }: Chosen, query: string): string {
  const { id, subject, from, to, date, link, code } = message;
  const tabs = views.map(({ view: name, label }) => {
    const current = name === view ? ' aria-current="page"' : '';
    const parameters = new URLSearchParams({ ...(name !== 'html' && { view: name }), ...(query && { q: query }) });
    return `<a href="/dev/inbox/messages/${id}${parameters.size > 0 ? `?${parameters}`.replaceAll('&', '&amp;') : ''}"${current}>${label}</a>`;
  });
  return `<a class="back" href="${withQuery('/dev/inbox', query)}">${query ? 'Messages found' : 'All messages'}</a>
<h1>${escapeHtml(subject)}</h1>
<dl>
<div><dt>From</dt><dd>${escapeHtml(from)}</dd></div>
<div><dt>To</dt><dd><a href="${withQuery('/dev/inbox', to)}" title="All emails to this address">${escapeHtml(to)}</a></dd></div>
<div><dt>Received</dt><dd>${timeHtml(date)}</dd></div>
</dl>
<div class="actions">
${link ? `<a class="open" href="${escapeHtml(link)}" target="_blank" rel="noreferrer">Open the link</a>` : ''}
${code ? `<p class="code"><span>Code</span> <output>${escapeHtml(code)}</output></p>` : ''}
</div>
<nav class="views" aria-label="How to show the message">${tabs.join('')}</nav>
${bodyHtml(message, view, raw)}`;
}

function bodyHtml({ id, subject, text }: InboxMessage, view: View, raw: string): string {
  if (view === 'text') return `<pre tabindex="0" aria-label="Text of the message">${linked(text)}</pre>`;
  if (view === 'raw') return `<pre tabindex="0" aria-label="Source of the message">${escapeHtml(raw)}</pre>`;
  const frame = `src="/dev/inbox/messages/${id}/html" sandbox="allow-popups allow-popups-to-escape-sandbox"`;
  return `<iframe title="${escapeHtml(subject)}" ${frame} referrerpolicy="no-referrer"></iframe>`;
}

function linked(text: string): string {
  const parts = text.split(/(https?:\/\/\S+)/);
  const shown = parts.map((part, index) => {
    const safe = escapeHtml(part);
    return index % 2 === 1 ? `<a href="${safe}" target="_blank" rel="noreferrer">${safe}</a>` : safe;
  });
  return shown.join('');
}

function timeHtml(date: string): string {
  const moment = new Date(date);
  const today = moment.toDateString() === new Date().toDateString();
  const time = moment.toLocaleTimeString('en-GB');
  const shown = today ? time : `${moment.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })}, ${time}`;
  return `<time datetime="${date}">${shown}</time>`;
}

/** /dev/inbox/inbox.js: fetches the page again whenever the service reports a new message, and shows its list. */
const inboxScript = `'use strict';
const list = document.getElementById('list');
const live = document.getElementById('live');

// The browser parses the response itself: Trusted Types do not allow HTML from a text.
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
  const current = ++latest;
  const loaded = await fetchPage(location.href);
  // An older response must not replace a newer one.
  if (!loaded || current !== latest) return;
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  list.replaceChildren(...loaded.getElementById('list').childNodes);
  if (focused) list.querySelector('a[href="' + focused + '"]')?.focus();
}

const events = new EventSource('/dev/inbox/events');
events.onopen = () => { live.textContent = 'Live'; live.dataset.state = 'live'; };
events.onerror = () => { live.textContent = 'Reconnecting…'; live.dataset.state = 'waiting'; };
events.onmessage = () => { refresh().catch(() => {}); };
addEventListener('pagehide', () => events.close());
`;

/** /dev/inbox/inbox.css */
const inboxStyles = `:root {
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
.side { min-height: 0; display: flex; flex-direction: column; border-right: 1px solid var(--line); background: var(--pane); }
.search { display: flex; gap: 8px; padding: 12px 20px; border-bottom: 1px solid var(--line); }
.search input { flex: 1; min-width: 0; height: 44px; padding: 0 12px; border: 1px solid var(--soft); border-radius: 8px; background: var(--page); color: inherit; font: inherit; font-size: 16px; }
.search button, .summary button { min-height: 44px; padding: 0 12px; border: 1px solid var(--line); border-radius: 8px; background: none; color: inherit; font: inherit; font-size: 13px; cursor: pointer; }
.summary { display: flex; flex-wrap: wrap; align-items: center; gap: 0 16px; padding: 4px 20px; border-bottom: 1px solid var(--line); color: var(--soft); font-size: 13px; }
.summary a, .summary button { display: inline-flex; align-items: center; min-height: 44px; padding: 0; border: 0; text-decoration: underline; text-underline-offset: 3px; }
.summary form { margin-left: auto; }
.list { min-height: 0; overflow-y: auto; }
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
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 12px 20px; }
.actions:not(:has(*)) { display: none; }
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
  .side { border-right: 0; }
  .reading .side, .listing .message { display: none; }
  .search, .summary { padding-left: 16px; padding-right: 16px; }
  .about { display: none; }
  .back { display: inline-block; align-self: start; }
  .message { padding: 4px 16px 24px; min-height: 80vh; }
  .bar { padding: 4px 16px; }
  .list li a { padding: 12px 16px; }
}
`;
