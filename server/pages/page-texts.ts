import type { pages } from '../../contract/pages.ts';
import { docPages, docPath, frameworkPages, promptPages, twinPath } from '../../templates/doc-pages.ts';

/** Title and description of a page for search engines and link previews, and the path of its Markdown version. */
export type PageText = { title: string; description: string; markdown?: string };

const PRODUCT = 'Email Auth';
const DESCRIPTION = 'Passwordless email sign-in for any site: magic links, single-use tokens, set up in under 2 minutes.';

/** The pages of the portal that search engines may list. */
const texts: { [Path in keyof typeof pages]?: PageText } = {
  '/': { title: `Passwordless email auth for vibe coding · ${PRODUCT}`, description: DESCRIPTION, markdown: '/llms.txt' },
  '/webservices/email-auth': {
    title: `Email Authentication · ${PRODUCT}`,
    description: 'How a website signs its visitors in by email: prompts for AI assistants, four manual steps, code for each framework.',
    markdown: twinPath('overview'),
  },
  '/webservices/email-auth/register': {
    title: `Register your domain · ${PRODUCT}`,
    description: 'Register a domain with a linked email. It is active immediately, and the code for your framework is next to the form.',
  },
  '/status': { title: `Status · ${PRODUCT}`, description: 'Whether the sign-in service works, measured by the service itself.' },
  '/tos': { title: `Terms of Service · ${PRODUCT}`, description: `The terms for registering a website with ${PRODUCT}.` },
  '/privacy': {
    title: `Privacy Policy · ${PRODUCT}`,
    description: `Which personal data ${PRODUCT} stores, for what purpose and how long.`,
  },
};

/**
 * Returns a function from a path to the portal's page with title, description, canonical address and link preview of that path. For
 * a path that is not in the table, the page asks search engines not to list it.
 */
export function describePages(html: string, publicUrl: string): (path: string) => string {
  const plain = insert(html, '<meta name="robots" content="noindex" />');
  const described = new Map<string, string>();
  const docs = [...docPages, ...frameworkPages, ...promptPages].map(({ slug, title, description }): [string, PageText] => [
    docPath(slug),
    { title: `${title} · ${PRODUCT}`, description, markdown: twinPath(slug) },
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
