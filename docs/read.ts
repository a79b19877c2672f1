import { readFile } from 'node:fs/promises';
import { frameworkOf } from '../templates/catalog.ts';
import { readSources } from '../templates/read.ts';
import { frameworkTable, frameworkText, projectTable, promptList, promptText } from './framework-pages.ts';
import { type DocPage, docPageOf, docPages, frameworkPages, markdownPath, promptPages } from './pages.ts';

/** The values that the texts are filled in with. */
export type DocValues = {
  /** The origin of the service, such as `https://auth.example.com`. */
  origin: string;
};

// These two pages are also for readers of the repository, and lie beside guide/.
const OUTSIDE_GUIDE = new Set(['cli', 'operations']);

// The bundles are in dist/cli/ and dist/server/; the texts stay in docs/ of the package.
const textsFolder = new URL(import.meta.url.endsWith('.js') ? '../../docs/' : './', import.meta.url);
const readText = (path: string) => readFile(new URL(path, textsFolder), 'utf8');

/**
 * Returns a page as Markdown: its title, its description as a quotation, its text. All links are absolute.
 * Returns null for an unknown slug.
 */
export async function readDoc(slug: string, { origin }: DocValues): Promise<string | null> {
  const page = docPageOf(slug);
  if (!page) return null;
  const text = (await textOf(slug, origin)).replace(/^# .+\n/, (title) => `${title}\n> ${page.description}\n`);
  return `${withAbsoluteLinks(fill(text, origin), origin).trimEnd()}\n`;
}

/** Returns the skill for assistants that add the sign-in to an app: Markdown with front matter. */
export async function readSkill({ origin }: DocValues): Promise<string> {
  return withAbsoluteLinks(fill(await readText('skill/SKILL.md'), origin), origin);
}

async function textOf(slug: string, origin: string): Promise<string> {
  const [kind, id] = slug.split('/');
  const framework = id === undefined ? undefined : frameworkOf(id);
  if (!framework) return readText(OUTSIDE_GUIDE.has(slug) ? `${slug}.md` : `guide/${slug}.md`);
  const page = kind === 'prompts' ? promptText : frameworkText;
  return page(framework, await readSources(framework), origin);
}

/** The placeholders for lists that are generated from the catalogs. */
const generatedLists: Record<string, () => string> = {
  PAGES: pageList,
  FRAMEWORKS: frameworkTable,
  PROJECTS: projectTable,
  PROMPTS: promptList,
};

const fill = (text: string, origin: string) =>
  text.replace(/__([A-Z]+)__/g, (placeholder, name: string) => (name === 'ORIGIN' ? origin : (generatedLists[name]?.() ?? placeholder)));

function pageList(): string {
  return docPages
    .filter(({ slug }) => slug !== 'overview')
    .map(({ slug, title, description }) => `- [${title}](${slug}.md): ${description}`)
    .join('\n');
}

const CODE_OR_LINK = /^ *(`{3,})[^\n]*\n[\s\S]*?^ *\1`*$|`[^`\n]+`|\[([^\]]*)\]\(([^)\s]+)\)/gm;

/** Makes links to files absolute links to the pages served. A link to a file that is not served becomes plain text. */
function withAbsoluteLinks(text: string, origin: string): string {
  return text.replace(CODE_OR_LINK, (whole, _fence, label?: string, target?: string) => {
    if (label === undefined || target === undefined || /^(?:https?:|#)/.test(target)) return whole;
    if (target.startsWith('/')) return `[${label}](${origin}${target})`;
    const [, path, anchor = ''] = /^([^#]*)(#.*)?$/.exec(target) ?? [];
    const slug = path.replace(/^(?:\.\.?\/)+/, '').replace(/\.md$/, '');
    return docPageOf(slug) ? `[${label}](${origin}${markdownPath(slug)}${anchor})` : label;
  });
}

const INTRODUCTION = `# Email Auth

> Passwordless email sign-in for any website: register a domain, send visitors to the sign-in page, and verify the token that they return with by one GET from your server. No package, no password.`;

/** Returns /llms.txt: the index of everything that assistants can read (https://llmstxt.org). */
export function llmsText({ origin }: DocValues): string {
  const links = (pages: readonly DocPage[]) =>
    pages.map(({ slug, title, description }) => `- [${title}](${origin}${markdownPath(slug)}): ${description}`).join('\n');
  return `${[
    INTRODUCTION,
    `The service is at ${origin}. To add it to an app, read the quick start and the page of the app's framework; both contain everything that the code needs. Verify tokens on the server, compare a \`state\` value of your own, and always send \`domain\`.`,
    '## Documentation',
    links(docPages.filter(({ optional }) => !optional)),
    '## Frameworks',
    links(frameworkPages),
    '## For programs',
    `- [OpenAPI 3.1](${origin}/openapi.json): Every call with its schemas.
- [MCP server](${origin}${markdownPath('assistants')}): Streamable HTTP at \`${origin}/mcp\`, or \`emailauth mcp --host ${origin}\` on stdio.
- [Skill](${origin}/skill.md): For an assistant that adds the sign-in to an app: four steps, and which tool or page to use.`,
    '## Optional',
    links([...docPages.filter(({ optional }) => optional), ...promptPages]),
    `- [Everything in one file](${origin}/llms-full.txt): All pages above except the prompts, one after the other.`,
  ].join('\n\n')}\n`;
}

/** Returns /llms-full.txt: all pages in one file, each below its address. Prompts are left out: they repeat the frameworks' files. */
export async function llmsFullText(values: DocValues): Promise<string> {
  const texts = await Promise.all(
    [...docPages, ...frameworkPages].map(
      async ({ slug }) => `<!-- ${values.origin}${markdownPath(slug)} -->\n\n${(await readDoc(slug, values))?.trimEnd()}`,
    ),
  );
  return `${[INTRODUCTION, ...texts].join('\n\n')}\n`;
}
