import type { pages } from '../../contract/pages.ts';
import { docPages, docPath, frameworkPages, markdownPath, promptPages } from '../../docs/pages.ts';

/** What search engines and link previews are told of a page, and where assistants find it as Markdown. */
export type PageText = { title: string; description: string; markdown?: string };

const PRODUCT = 'Email Auth';
const DESCRIPTION = 'Passwordless email sign-in for any site: magic links, single-use tokens, set up in under 2 minutes.';

/** The pages of the portal entry that everybody may find; the others are not to be listed. */
const texts: { [Path in keyof typeof pages]?: PageText } = {
  '/': { title: `Passwordless email auth for vibe coding · ${PRODUCT}`, description: DESCRIPTION, markdown: '/llms.txt' },
  '/webservices/email-auth': {
    title: `Email Authentication · ${PRODUCT}`,
    description: 'How a site signs its visitors in by email: prompts for AI assistants, four steps by hand, code for each framework.',
    markdown: markdownPath('overview'),
  },
  '/webservices/email-auth/register': {
    title: `Register your domain · ${PRODUCT}`,
    description: 'Register a domain with a linked email. It is active at once, and the code for your framework stands beside the form.',
  },
  '/status': { title: `Status · ${PRODUCT}`, description: 'Whether the sign-in service works, measured by the service itself.' },
  '/tos': { title: `Terms of Service · ${PRODUCT}`, description: `The terms for everybody who registers a website with ${PRODUCT}.` },
  '/privacy': { title: `Privacy Policy · ${PRODUCT}`, description: `Which personal data ${PRODUCT} holds, what for, and for how long.` },
};

/**
 * The portal's page as it is sent for each path of its own: title, description, canonical address and preview. The app itself
 * keeps the title when its reader goes on.
 * @returns the page for a path; one that is not to be listed for any other path
 */
export function describePages(html: string, publicUrl: string): (path: string) => string {
  const plain = insert(html, '<meta name="robots" content="noindex" />');
  const described = new Map<string, string>();
  const docs = [...docPages, ...frameworkPages, ...promptPages].map(({ slug, title, description }): [string, PageText] => [
    docPath(slug),
    { title: `${title} · ${PRODUCT}`, description, markdown: markdownPath(slug) },
  ]);
  for (const [path, text] of [...docs, ...Object.entries(texts)]) described.set(path, describe(html, publicUrl + path, text));
  return (path) => described.get(path) ?? plain;
}

function describe(html: string, address: string, { title, description, markdown }: PageText): string {
  const page = html
    .replace(/<title>[^<]*<\/title>/, () => `<title>${title}</title>`)
    .replace(/(<meta name="description" content=")[^"]*/, (_, start: string) => start + description);
  return insert(
    page,
    `<link rel="canonical" href="${address}" /><meta property="og:title" content="${title}" />` +
      `<meta property="og:description" content="${description}" /><meta property="og:url" content="${address}" />` +
      `<meta property="og:type" content="website" /><meta property="og:site_name" content="${PRODUCT}" />${markdown ? `<link rel="alternate" type="text/markdown" href="${markdown}" />` : ''}`,
  );
}

const insert = (html: string, tags: string) => html.replace('</head>', () => `${tags}</head>`);
