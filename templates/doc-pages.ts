import { frameworks } from './catalog.ts';

/** A page of the documentation. */
export type DocPage = {
  /** The end of its address: `quick-start`, `frameworks/express`. */
  slug: string;
  /** Also its first heading. */
  title: string;
  /** One sentence on what a reader finds there. */
  description: string;
  /** For those who run a service, or want to know more than an integration needs. */
  optional?: true;
};

/** Where the documentation lies on a service; the page there is `overview`. */
export const DOCS_PATH = '/webservices/email-auth';

/** The pages, in the order in which they are read. Their texts lie in docs/: docs.ts reads them. */
export const docPages: readonly DocPage[] = [
  {
    slug: 'overview',
    title: 'Email Authentication',
    description: 'What Email Auth does for a site, and which page says what.',
  },
  {
    slug: 'quick-start',
    title: 'Quick start',
    description: 'From nothing to a verified sign-in in four steps: register, link, callback, verify.',
  },
  {
    slug: 'integration',
    title: 'Integration',
    description: 'The protocol as a site sees it: forward_url, state, the way back, every answer of verify-token.',
  },
  {
    slug: 'frameworks',
    title: 'Frameworks',
    description: 'Complete login, callback, protected page and logout for each framework.',
  },
  {
    slug: 'assistants',
    title: 'AI assistants',
    description: 'The MCP server and how to install it, prompts to copy, the skill, and what there is for machines to read.',
  },
  {
    slug: 'dialogue',
    title: 'A dialogue',
    description: 'An assistant adds the sign-in to an app with four calls, recorded word for word.',
  },
  {
    slug: 'security',
    title: 'Security',
    description: 'What your site has to do, and what the service guarantees.',
  },
  {
    slug: 'troubleshooting',
    title: 'Troubleshooting',
    description: 'Each error and each reason that a site meets, and what to do about it.',
  },
  {
    slug: 'api',
    title: 'API reference',
    description: 'Every call with its method, path and access, all error codes, limits and bearer keys.',
  },
  {
    slug: 'cli',
    title: 'The command line',
    description: 'Every command of emailauth with its flags, examples and exit codes.',
    optional: true,
  },
  {
    slug: 'operations',
    title: 'Running Email Auth',
    description: 'For whoever runs the service: settings, health, several instances, backup and restore.',
    optional: true,
  },
];

/** One page a framework: its files, filled in, and the steps around them. */
export const frameworkPages: readonly DocPage[] = frameworks.map(({ id, name }) => ({
  slug: `frameworks/${id}`,
  title: `Sign-in with ${name}`,
  description: `The files that add the sign-in to your ${name} project, its environment, and what is left to do.`,
}));

/** One page a framework: what to paste into an assistant. */
export const promptPages: readonly DocPage[] = frameworks.map(({ id, name }) => ({
  slug: `prompts/${id}`,
  title: `Prompt for ${name}`,
  description: `What to paste into an AI assistant that adds the sign-in to your ${name} project.`,
}));

const pageBySlug = new Map([...docPages, ...frameworkPages, ...promptPages].map((page) => [page.slug, page]));

/** @returns undefined for a slug that no page has */
export const docPageOf = (slug: string): DocPage | undefined => pageBySlug.get(slug);

/** @returns the page that leads to a framework's page or prompt; null for the others */
export const parentOf = (slug: string) =>
  slug.startsWith('frameworks/') ? 'frameworks' : slug.startsWith('prompts/') ? 'assistants' : null;

/** The address of a page for people, from the root of the service. */
export const docPath = (slug: string) => (slug === 'overview' ? DOCS_PATH : `${DOCS_PATH}/${slug}`);

/** The address of the same page as Markdown. */
export const twinPath = (slug: string) => `${docPath(slug)}.md`;

/** @returns the slug of the page for people at a path; null where there is none */
export function slugAt(path: string): string | null {
  if (path === DOCS_PATH) return 'overview';
  const slug = path.startsWith(`${DOCS_PATH}/`) ? path.slice(DOCS_PATH.length + 1) : '';
  return slug !== 'overview' && pageBySlug.has(slug) ? slug : null;
}
