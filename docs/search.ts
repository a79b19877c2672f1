import { slug } from 'github-slugger';
import MiniSearch from 'minisearch';
import { type DocPage, docPages, docPath, frameworkPages } from './pages.ts';
import { type DocValues, readDoc } from './read.ts';

/** A section that a search found; `url` is its address on the HTML page. */
type DocHit = { slug: string; title: string; heading: string; excerpt: string; url: string };

/** A section as the index holds it; `id` is its position among all sections. */
type IndexedSection = DocSection & { id: number; page: DocPage; pageText: string };

type DocIndex = { sections: readonly IndexedSection[]; search: MiniSearch<IndexedSection> };

const MAX_QUERY_LENGTH = 400;
const MAX_TERMS = 12;
const EXCERPT_LENGTH = 280;

// Frequent words of questions, which every page contains.
const STOP_WORDS = new Set(
  'a an and are as at be by can do does for from how i if in is it my of on or that the this to use what when where which with you your'.split(
    ' ',
  ),
);

/**
 * Returns the sections of all pages that match a query, best first. The pages of frameworks are indexed without their files.
 * @param limit the maximum number of sections
 */
export async function searchDocs(query: string, values: DocValues, limit = 8): Promise<DocHit[]> {
  const { sections, search } = await indexFor(values);
  const words = tokenize(query.slice(0, MAX_QUERY_LENGTH)).map(processTerm);
  // The cost of a search grows with the number of its terms.
  const terms = [...new Set(words)].filter((term) => term !== null).slice(0, MAX_TERMS);
  return search
    .search(query, { tokenize: () => terms })
    .slice(0, limit)
    .map(({ id, terms: found }) => {
      const { page, heading, anchor, text } = sections[id];
      const url = `${values.origin}${docPath(page.slug)}#${anchor}`;
      return { slug: page.slug, title: page.title, heading, excerpt: excerptOf(text, new Set(found)), url };
    });
}

const indexes = new Map<string, Promise<DocIndex>>();

/** Returns the index of one service origin. It is built once: the texts do not change while the program runs. */
function indexFor(values: DocValues): Promise<DocIndex> {
  const known = indexes.get(values.origin);
  if (known) return known;
  const built = buildIndex(values);
  built.catch(() => indexes.delete(values.origin));
  indexes.set(values.origin, built);
  return built;
}

async function buildIndex(values: DocValues): Promise<DocIndex> {
  const pages = await Promise.all(
    [...docPages, ...frameworkPages].map(async (page) =>
      sectionsOf((await readDoc(page.slug, values)) ?? '')
        .filter(({ level }) => level < 3 || !page.slug.startsWith('frameworks/'))
        .map((section) => ({ ...section, page, pageText: `${page.title} ${page.slug}` })),
    ),
  );
  const sections = pages.flat().map((section, id) => ({ ...section, id }));
  const search = new MiniSearch<IndexedSection>({
    fields: ['text', 'heading', 'pageText'],
    tokenize,
    processTerm,
    searchOptions: {
      boost: { heading: 3 },
      // `token` also finds `tokens`, and `tokens` finds `token`.
      prefix: (term) => term.length >= 4,
      fuzzy: (term) => term.length >= 5 && term.length <= 20 && 1,
    },
  });
  search.addAll(sections);
  return { sections, search };
}

/** Returns the words of a text; one with underscores counts as a whole and in its parts. */
function tokenize(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.flatMap((word) => (word.includes('_') ? [word, ...word.split('_').filter(Boolean)] : [word]));
}

function processTerm(word: string): string | null {
  const term = word.toLowerCase();
  return STOP_WORDS.has(term) ? null : term;
}

/** Returns the text from the sentence that contains most of the terms. */
function excerptOf(text: string, terms: ReadonlySet<string>): string {
  if (text.length <= EXCERPT_LENGTH) return text;
  const sentences = text.split(/(?<=[.:;?!]) /);
  const counts = sentences.map((sentence) => new Set(tokenize(sentence.toLowerCase()).filter((word) => terms.has(word))).size);
  const best = counts.indexOf(Math.max(...counts));
  const cut = sentences.slice(best).join(' ').slice(0, EXCERPT_LENGTH);
  return `${best > 0 ? '… ' : ''}${cut}${cut.length === EXCERPT_LENGTH ? ' …' : ''}`;
}

/** A heading of a page with the text below it. */
type DocSection = {
  heading: string;
  /** The level of the heading, 1 to 6. */
  level: number;
  /** The id of the heading, which a URL fragment names. */
  anchor: string;
  /** The text without Markdown syntax. */
  text: string;
};

/** Splits a page at its headings. Lines inside fenced code are not headings. */
export function sectionsOf(markdown: string): DocSection[] {
  const sections: { heading: string; level: number; lines: string[] }[] = [];
  let fence: string | null = null;
  for (const line of markdown.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (mark && fence === null) fence = mark;
    else if (mark && fence !== null && line.trim() === mark && mark.startsWith(fence)) fence = null;
    const [, marks, heading] = (fence === null && /^(#{1,6}) (.+)$/.exec(line)) || [];
    if (heading) sections.push({ heading: withoutInlineSyntax(heading), level: marks.length, lines: [] });
    else if (!mark) sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, level, lines }) => ({ heading, level, anchor: slug(heading), text: plainText(lines.join('\n')) }));
}

/** Returns text without the syntax of lists, tables, comments, links, code and emphasis. */
function plainText(markdown: string): string {
  return withoutInlineSyntax(
    markdown
      .replace(/<!--[\s\S]*?-->/g, '')
      .replace(/^\s*(?:[-*>]|\d+\.) +/gm, '')
      .replace(/^\|[-| :]*\|$/gm, '')
      .replace(/ *\| */g, ' '),
  )
    .replace(/\s+/g, ' ')
    .trim();
}

const withoutInlineSyntax = (markdown: string) => markdown.replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1').replace(/\*\*|`/g, '');
