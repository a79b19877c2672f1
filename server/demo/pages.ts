import { languages } from '../../contract/languages.ts';

/** Text that is safe HTML. */
export type Html = { html: string };

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Returns a template as HTML, with its values escaped unless they are Html. */
export function html(strings: TemplateStringsArray, ...values: (string | number | Html | Html[])[]): Html {
  return { html: String.raw({ raw: strings }, ...values.map(toHtml)) };
}

function toHtml(value: string | number | Html | Html[]): string {
  if (Array.isArray(value)) return value.map(toHtml).join('');
  if (typeof value === 'object') return value.html;
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}

/** Why a returning visitor could not be signed in. */
export type Problem = 'missing' | 'wrong_state' | 'used' | 'expired' | 'unknown' | 'other_domain' | 'unreachable';

const PROBLEMS: Record<Problem, { title: string; text: string }> = {
  missing: { title: 'That link is not complete', text: 'It contains no sign-in. Perhaps the email program cut it off.' },
  wrong_state: {
    title: 'This sign-in did not begin here',
    text: 'It was not requested in this browser, so the shop refused it without using it.',
  },
  used: { title: 'This sign-in was used already', text: 'Every sign-in works once. If you are not signed in, start a new one.' },
  expired: { title: 'This sign-in is too old', text: 'It was valid for one hour.' },
  unknown: { title: 'This sign-in is not valid', text: 'The sign-in service does not recognize it.' },
  other_domain: { title: 'This sign-in is for another site', text: 'It was issued for another website, so it does not work here.' },
  unreachable: { title: 'The sign-in service did not answer', text: 'That is not your fault. Please try again in a moment.' },
};

const PRODUCTS = [
  { name: 'Harbour', kind: 'Dot grid, A5', price: '€14', art: 'harbour', pattern: dots() },
  { name: 'Meadow', kind: 'Ruled, A5', price: '€14', art: 'meadow', pattern: lines() },
  { name: 'Ember', kind: 'Plain, pocket, set of three', price: '€18', art: 'ember', pattern: sun() },
];

/** Returns the shop's page, for guests (`email` null) and for signed-in visitors. */
export function homePage({ email, inbox, domain }: { email: string | null; inbox: boolean; domain: string }): Html {
  return page({
    title: email ? 'Your account' : 'Notebooks, sewn by hand',
    account: email ? signOutForm() : html`<a class="button small" href="/demo/sign-in">Sign in</a>`,
    inbox,
    main: html`${email ? welcome(email, domain) : hero()}
    <section class="shelf" aria-labelledby="shelf">
      <h2 id="shelf">On the shelf</h2>
      <ul>${PRODUCTS.map(product)}</ul>
    </section>`,
  });
}

/** Returns the page that a browser shows before it completes a sign-in that began in another one. */
export function confirmPage(email: string): Html {
  return page({
    title: 'Sign in here?',
    main: html`<section class="notice">
      <h1>Sign in here?</h1>
      <p>You started in another browser. In this one you will be signed in as</p>
      <p class="address">${email}</p>
      <form class="actions" method="post" action="/demo/confirm"><button class="button">Sign in here</button><a class="quiet" href="/demo">Not me</a></form>
    </section>`,
  });
}

/** Returns a page with an explanation and a link to try again. */
export function problemPage(problem: Problem): Html {
  const { title, text } = PROBLEMS[problem];
  return page({
    title,
    main: html`<section class="notice" role="alert">
      <h1>${title}</h1>
      <p>${text}</p>
      <p class="actions"><a class="button" href="/demo/sign-in">${envelope()}Sign in with Email</a><a class="quiet" href="/demo">Back to the shop</a></p>
    </section>`,
  });
}

function page(parts: { title: string; main: Html; account?: Html; inbox?: boolean }): Html {
  return html`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="robots" content="noindex">
  <title>${parts.title} · Foldmark</title>
  <link rel="icon" href="/demo/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="/demo/style.css">
</head>
<body>
  <p class="ribbon"><span>A demo shop. It represents any website that signs its visitors in with Email Auth.</span>${
    parts.inbox ? html` <a href="/dev/inbox" target="_blank" rel="noopener">Open the inbox</a>` : ''
  }</p>
  <header>
    <a class="brand" href="/demo">${mark()}Foldmark</a>
    ${parts.account ?? ''}
  </header>
  <main>${parts.main}</main>
  <footer>
    <p>Foldmark, paper goods. Nothing here is for sale.</p>
    <p class="languages"><span>Sign-in page in</span> ${languages.map(
      ({ code, name }) => html`<a href="/demo/sign-in?language=${code}" hreflang="${code}" lang="${code}">${name}</a> `,
    )}</p>
  </footer>
</body>
</html>
`;
}

function hero(): Html {
  return html`<section class="hero">
    <div>
      <h1>Notebooks that lie flat and stay that way.</h1>
      <p>Sewn in sections, bound in linen. Sign in to see your orders; no password, just your address.</p>
      <p class="actions"><a class="button" href="/demo/sign-in">${envelope()}Sign in with Email</a></p>
    </div>
    ${openBook()}
  </section>`;
}

function welcome(email: string, domain: string): Html {
  return html`<section class="welcome">
    <h1>You are signed in</h1>
    <p class="address">${email}</p>
    <h2>Orders</h2>
    <p class="empty">No orders yet. Your first notebook will show up here.</p>
    <details>
      <summary>What just happened</summary>
      <ol>
        <li>The shop stored a <code>state</code> in its own cookie and sent you to <code>/auth</code> with its <code>forward_url</code>.</li>
        <li>You came back with a <code>token</code>, and the <code>state</code> matched the one of this browser.</li>
        <li>The shop’s server called <code>GET /api/verify-token?token=…&amp;domain=${domain}</code> once and got your address.</li>
        <li>It opened its own session and removed the token from the address bar.</li>
      </ol>
    </details>
  </section>`;
}

function signOutForm(): Html {
  return html`<form method="post" action="/demo/sign-out"><button class="button small plain">Sign out</button></form>`;
}

function product({ name, kind, price, art, pattern }: (typeof PRODUCTS)[number]): Html {
  return html`<li>
    <svg class="cover ${art}" viewBox="0 0 240 180" aria-hidden="true">
      <rect class="ground" width="240" height="180"/>
      <rect class="pages" x="79" y="30" width="94" height="124" rx="3"/>
      <rect class="cloth" x="72" y="26" width="94" height="124" rx="3"/>
      ${pattern}
      <rect class="spine" x="72" y="26" width="13" height="124" rx="3"/>
    </svg>
    <h3>${name}</h3><p class="price">${price}</p><p class="kind">${kind}</p>
  </li>`;
}

function dots(): Html {
  const rows = [0, 1, 2, 3, 4, 5].flatMap((row) =>
    [0, 1, 2, 3].map((column) => html`<circle class="print" cx="${102 + column * 16}" cy="${48 + row * 16}" r="2"/>`),
  );
  return html`${rows}`;
}

function lines(): Html {
  return html`${[0, 1, 2, 3, 4].map((row) => html`<path class="stroke" d="M98 ${52 + row * 18}q14 -9 28 0t28 0"/>`)}`;
}

function sun(): Html {
  return html`<circle class="print" cx="126" cy="88" r="22"/><path class="stroke" d="M98 124h56"/>`;
}

/** The shop's icon, an SVG file. */
export const ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path fill="#2f8a6e" d="M5 3h14v18l-7-5-7 5z"/></svg>';

function mark(): Html {
  return html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true"><path d="M5 3h14v18l-7-5-7 5z"/></svg>`;
}

function envelope(): Html {
  return html`<svg class="envelope" viewBox="0 0 20 20" aria-hidden="true"><rect x="2" y="4" width="16" height="12" rx="1.5"/><path d="m2.5 5 7.5 6 7.5-6"/></svg>`;
}

function openBook(): Html {
  return html`<svg class="book" viewBox="0 0 320 220" aria-hidden="true">
    <ellipse class="shade" cx="160" cy="196" rx="140" ry="12"/>
    <path class="board" d="M14 46q76-26 146 4 70-30 146-4v142q-76-20-146 6-70-26-146-6z"/>
    <path class="sheet" d="M24 40q70-22 136 8v138q-66-26-136-8z"/>
    <path class="sheet" d="M296 40q-70-22-136 8v138q66-26 136-8z"/>
    <path class="rule" d="M160 48v138M44 70q50-12 98 4M44 94q50-12 98 4M44 118q50-12 98 4M44 142q30-8 60-4"/>
    <path class="ribbon-mark" d="M206 36v74l9-9 9 9V34z"/>
  </svg>`;
}
