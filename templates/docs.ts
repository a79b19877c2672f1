import { readFile } from 'node:fs/promises';
import { frameworkOf } from './catalog.ts';
import { frameworkTable, frameworkText, promptList, promptText } from './doc-frameworks.ts';
import { docPageOf, docPages, docPath, frameworkPages, twinPath } from './doc-pages.ts';
import { indexSections, type SearchIndex, searchSections } from './doc-search.ts';
import { sectionsOf } from './doc-text.ts';
import { readSources } from './read.ts';

export { docPages } from './doc-pages.ts';

/** What the texts are filled in with. */
export type DocFilling = {
  /** Of the service, such as `https://auth.example.com`. */
  origin: string;
};

/** A section that a search found; `url` leads to it on the page for people. */
export type DocHit = { slug: string; title: string; heading: string; excerpt: string; url: string };

/** These two are for the repository's readers first; their links lead there. */
const BESIDE = new Set(['cli', 'operations']);

/**
 * A page as Markdown: its title, its description as a quotation, its text. The service's origin is filled in and every link is
 * absolute, so that it can be read anywhere. For Node.js, from the repository and from dist alike.
 * @returns null for a slug that no page has
 */
export async function readDoc(slug: string, { origin }: DocFilling): Promise<string | null> {
  const page = docPageOf(slug);
  if (!page) return null;
  const text = (await textOf(slug, origin)).replace(/^# .+\n/, (title) => `${title}\n> ${page.description}\n`);
  return `${withLinks(fill(text, origin), origin).trimEnd()}\n`;
}

/** The skill for assistants that add the sign-in to an app: Markdown with front matter. */
export async function readSkill({ origin }: DocFilling): Promise<string> {
  return withLinks(fill(await source('skill/SKILL.md'), origin), origin);
}

/**
 * Sections of all pages, frameworks included, best first.
 * @param limit how many at most
 */
export async function searchDocs(query: string, filling: DocFilling, limit = 8): Promise<DocHit[]> {
  const hits = searchSections(await indexOfAll(filling), query, limit);
  return hits.map(({ slug, title, heading, anchor, excerpt }) => ({
    slug,
    title,
    heading,
    excerpt,
    url: `${filling.origin}${docPath(slug)}#${anchor}`,
  }));
}

const indexes = new Map<string, Promise<SearchIndex>>();

/** Made once for an origin: the texts do not change while a program runs. Of a framework's page without its files. */
function indexOfAll(filling: DocFilling): Promise<SearchIndex> {
  const known = indexes.get(filling.origin);
  if (known) return known;
  const made = Promise.all(
    [...docPages, ...frameworkPages].map(async ({ slug, title }) =>
      sectionsOf((await readDoc(slug, filling)) ?? '')
        .filter(({ level }) => level < 3 || !slug.startsWith('frameworks/'))
        .map((section) => ({ ...section, slug, title })),
    ),
  ).then((pages) => indexSections(pages.flat()));
  made.catch(() => indexes.delete(filling.origin));
  indexes.set(filling.origin, made);
  return made;
}

async function textOf(slug: string, origin: string): Promise<string> {
  const [kind, id] = slug.split('/');
  const framework = id === undefined ? undefined : frameworkOf(id);
  if (!framework) return source(BESIDE.has(slug) ? `${slug}.md` : `guide/${slug}.md`);
  const page = kind === 'prompts' ? promptText : frameworkText;
  return page(framework, await readSources(framework), origin);
}

// From source and from dist alike, the texts lie in docs of the package.
const home = new URL(import.meta.url.includes('/dist/templates/') ? '../../docs/' : '../docs/', import.meta.url);
const source = (path: string) => readFile(new URL(path, home), 'utf8');

/** What stands for a part that is made from the catalogues. */
const parts: Record<string, () => string> = { PAGES: pageList, FRAMEWORKS: frameworkTable, PROMPTS: promptList };

const fill = (text: string, origin: string) =>
  text.replace(/__([A-Z]+)__/g, (placeholder, name: string) => (name === 'ORIGIN' ? origin : (parts[name]?.() ?? placeholder)));

function pageList(): string {
  return docPages
    .filter(({ slug }) => slug !== 'overview')
    .map(({ slug, title, description }) => `- [${title}](${slug}.md): ${description}`)
    .join('\n');
}

const CODE_OR_LINK = /^ *(`{3,})[^\n]*\n[\s\S]*?^ *\1`*$|`[^`\n]+`|\[([^\]]*)\]\(([^)\s]+)\)/gm;

/** Links to files become links to the pages that are served; what is not served keeps its text alone. Code stays as it is. */
function withLinks(text: string, origin: string): string {
  return text.replace(CODE_OR_LINK, (whole, _fence, label?: string, target?: string) => {
    if (label === undefined || target === undefined || /^(?:https?:|#)/.test(target)) return whole;
    if (target.startsWith('/')) return `[${label}](${origin}${target})`;
    const [, path, anchor = ''] = /^([^#]*)(#.*)?$/.exec(target) ?? [];
    const slug = path.replace(/^(?:\.\.?\/)+/, '').replace(/\.md$/, '');
    return docPageOf(slug) ? `[${label}](${origin}${twinPath(slug)}${anchor})` : label;
  });
}
