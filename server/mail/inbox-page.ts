import type { InboxMessage } from './inbox.ts';
import { escapeHtml } from './mime.ts';

export type View = 'html' | 'text' | 'raw';
type Chosen = { message: InboxMessage; view: View; raw: string };

const views: { view: View; label: string }[] = [
  { view: 'html', label: 'HTML' },
  { view: 'text', label: 'Text' },
  { view: 'raw', label: 'Raw' },
];

/** The whole page: the list, and the chosen message beside it. */
export function pageHtml({ messages, chosen }: { messages: InboxMessage[]; chosen: Chosen | null }): string {
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
<p class="about">Mail of this service in local mode. Nothing leaves this machine.</p>
<p class="live" id="live" role="status"></p>
</header>
<div class="panes">
<nav class="list" id="list" aria-label="Messages" data-chosen="${chosen ? chosen.message.id : ''}">
${listHtml(messages, chosen?.message.id ?? null)}
</nav>
<main class="message">
${chosen ? messageHtml(chosen) : '<p class="nothing">Choose a message.</p>'}
</main>
</div>
</body>
</html>
`;
}

/** The list alone, which the page's script fetches anew when a message came. */
export function listHtml(messages: InboxMessage[], chosen: string | null): string {
  if (messages.length === 0) {
    return '<p class="nothing">No mail yet. Ask for a sign-in link, and it appears here at once.</p>';
  }
  return `<ol>${messages.map((message) => rowHtml(message, message.id === chosen)).join('')}</ol>`;
}

/** The mail itself, for the sandboxed frame. */
export function messageDocument({ html, text }: InboxMessage): string {
  // Every link leaves the frame, whatever the mail says.
  return `<base target="_blank">${html || `<pre>${linked(text)}</pre>`}`;
}

function rowHtml({ id, subject, to, date }: InboxMessage, current: boolean): string {
  return `<li><a href="/dev/inbox/messages/${id}"${current ? ' aria-current="page"' : ''}>
<span class="subject">${escapeHtml(subject)}</span>
<span class="line"><span class="to">${escapeHtml(to)}</span> ${timeHtml(date)}</span>
</a></li>`;
}

function messageHtml({ message, view, raw }: Chosen): string {
  const { id, subject, from, to, date, link, code } = message;
  const tabs = views.map(({ view: name, label }) => {
    const current = name === view ? ' aria-current="page"' : '';
    return `<a href="/dev/inbox/messages/${id}${name === 'html' ? '' : `?view=${name}`}"${current}>${label}</a>`;
  });
  return `<a class="back" href="/dev/inbox">All messages</a>
<h1>${escapeHtml(subject)}</h1>
<dl>
<div><dt>From</dt><dd>${escapeHtml(from)}</dd></div>
<div><dt>To</dt><dd>${escapeHtml(to)}</dd></div>
<div><dt>Came</dt><dd>${timeHtml(date)}</dd></div>
</dl>
<div class="ways">
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
