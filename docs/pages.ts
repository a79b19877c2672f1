import { frameworks } from '../templates/catalog.ts';

/** A page of the documentation. */
export type DocPage = {
  /** The end of its URL path: `quick-start`, `frameworks/express`. */
  slug: string;
  /** Also its first heading. */
  title: string;
  /** One sentence about its contents. */
  description: string;
  /** A page for operators, or with more details than an integration needs. */
  optional?: true;
};

/** The URL path of the documentation on a service; the page there is `overview`. */
const DOCS_PATH = '/webservices/email-auth';

/** The pages in groups, in reading order. read.ts reads their texts. */
export const docGroups: readonly { title: string; pages: readonly DocPage[] }[] = [
  {
    title: 'Start',
    pages: [
      {
        slug: 'overview',
        title: 'Email Authentication',
        description: 'What Email Auth does for a website, and what each page of this documentation covers.',
      },
      {
        slug: 'quick-start',
        title: 'Quick start',
        description: 'From nothing to a verified sign-in in four steps: register, link, callback, verify.',
      },
      {
        slug: 'integration',
        title: 'Integration',
        description: 'The protocol from the side of a website: forward_url, state, the callback, every response of verify-token.',
      },
      {
        slug: 'frameworks',
        title: 'Frameworks',
        description: 'Complete login, callback, protected page and logout for each framework.',
      },
    ],
  },
  {
    title: 'Other ways to connect',
    pages: [
      {
        slug: 'openid-connect',
        title: 'Any OpenID Connect client',
        description: 'Issuer, kinds of clients and configurations for Auth.js, Spring, Django, Rails, Apache, Grafana and others.',
      },
      {
        slug: 'forward-auth',
        title: 'Apps without code',
        description:
          'Protect any app behind nginx, Caddy or Traefik: the proxy signs visitors in by email, and the app gets their address.',
      },
    ],
  },
  {
    title: 'Sign-in methods',
    pages: [
      {
        slug: 'passkeys',
        title: 'Passkeys',
        description: 'How visitors sign in without waiting for an email, at every website and with nothing to integrate.',
      },
      {
        slug: 'email-verification',
        title: 'Verified by the browser (experimental)',
        description: 'The Email Verification Protocol: the mail provider confirms an address to the browser, and no email is needed.',
        optional: true,
      },
    ],
  },
  {
    title: 'AI assistants',
    pages: [
      {
        slug: 'assistants',
        title: 'AI assistants',
        description: 'The MCP server and how to install it, prompts to copy, the skill, and the machine-readable files.',
      },
      {
        slug: 'dialogue',
        title: 'A dialogue',
        description: 'An assistant adds the sign-in to an app with four calls, recorded verbatim.',
      },
    ],
  },
  {
    title: 'Reference',
    pages: [
      {
        slug: 'security',
        title: 'Security',
        description: 'What your website has to do, and what the service guarantees.',
      },
      {
        slug: 'troubleshooting',
        title: 'Troubleshooting',
        description: 'Each error and each reason that a website can receive, and how to fix it.',
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
    ],
  },
  {
    title: 'Operation',
    pages: [
      {
        slug: 'operations',
        title: 'Running Email Auth',
        description: 'For operators: settings, health, several instances, backup and restore.',
        optional: true,
      },
    ],
  },
];

/** The pages of all groups. */
export const docPages: readonly DocPage[] = docGroups.flatMap(({ pages }) => pages);

/** One page per framework: its files, filled in for an example domain, with install and next steps. */
export const frameworkPages: readonly DocPage[] = frameworks.map(({ id, name }) => ({
  slug: `frameworks/${id}`,
  title: `Sign-in with ${name}`,
  description: `The files that add the sign-in to your ${name} project, its environment variables, and the remaining steps.`,
}));

/** One page per framework: the prompt to paste into an assistant. */
export const promptPages: readonly DocPage[] = frameworks.map(({ id, name }) => ({
  slug: `prompts/${id}`,
  title: `Prompt for ${name}`,
  description: `The prompt to paste into an AI assistant that adds the sign-in to your ${name} project.`,
}));

const pageBySlug = new Map([...docPages, ...frameworkPages, ...promptPages].map((page) => [page.slug, page]));

/** Returns the page with a slug, or undefined. */
export const docPageOf = (slug: string): DocPage | undefined => pageBySlug.get(slug);

/** Returns the slug of the page that lists a framework's page or prompt; null for any other page. */
export const parentOf = (slug: string) =>
  slug.startsWith('frameworks/') ? 'frameworks' : slug.startsWith('prompts/') ? 'assistants' : null;

/** Returns the URL path of a page as HTML. */
export const docPath = (slug: string) => (slug === 'overview' ? DOCS_PATH : `${DOCS_PATH}/${slug}`);

/** Returns the URL path of a page as Markdown. */
export const markdownPath = (slug: string) => `${docPath(slug)}.md`;

/** Returns the slug of the page whose HTML is at a URL path, or null. */
export function slugAt(path: string): string | null {
  if (path === DOCS_PATH) return 'overview';
  const slug = path.startsWith(`${DOCS_PATH}/`) ? path.slice(DOCS_PATH.length + 1) : '';
  return slug !== 'overview' && pageBySlug.has(slug) ? slug : null;
}
