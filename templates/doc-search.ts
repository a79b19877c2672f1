import type { DocSection } from './doc-text.ts';

/** A section of a page, as something to be found. */
export type Searchable = DocSection & { slug: string; title: string };

/** What a search found. */
export type Hit = Searchable & { excerpt: string };

const MAX_TERMS = 12;
const EXCERPT_LENGTH = 280;
// Words of questions, which stand on every page.
const COMMON = new Set(
  'a an and are as at be by can do does for from how i if in is it my of on or that the this to use what when where which with you your'.split(
    ' ',
  ),
);

/** How often each word stands in which section, by the section's number. */
type Postings = Map<string, Map<number, number>>;

/** Sections made ready to be searched. */
export type SearchIndex = {
  sections: readonly Searchable[];
  text: Postings;
  heading: Postings;
  title: Postings;
  /** Words of each section's text. */
  lengths: readonly number[];
  average: number;
};

/** Reads every word once, so that a search reads none. */
export function indexSections(sections: readonly Searchable[]): SearchIndex {
  const texts = sections.map(({ text }) => wordsOf(text));
  const lengths = texts.map(({ length }) => length);
  return {
    sections,
    text: postingsOf(texts),
    heading: postingsOf(sections.map(({ heading }) => wordsOf(heading))),
    title: postingsOf(sections.map(({ title, slug }) => wordsOf(`${title} ${slug}`))),
    lengths,
    average: Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, sections.length)),
  };
}

function postingsOf(words: readonly string[][]): Postings {
  const postings: Postings = new Map();
  for (const [number, list] of words.entries()) {
    for (const word of list) {
      const places = postings.get(word) ?? new Map<number, number>();
      places.set(number, (places.get(number) ?? 0) + 1);
      postings.set(word, places);
    }
  }
  return postings;
}

/**
 * Sections by how well they answer a query: BM25 over their text, a heading and a page's title weighing more, and all terms
 * of the query more than some of them.
 * @param limit how many at most
 */
export function searchSections(index: SearchIndex, query: string, limit: number): Hit[] {
  const { sections, lengths, average } = index;
  const terms = [...new Set(wordsOf(query.slice(0, 400)))].filter((word) => !COMMON.has(word)).slice(0, MAX_TERMS);
  const found = terms.map((term) => {
    const having = new Set([...(index.text.get(term)?.keys() ?? []), ...(index.heading.get(term)?.keys() ?? [])]).size;
    const rarity = Math.log(1 + (sections.length - having + 0.5) / (having + 0.5));
    const [text, heading, title] = [index.text, index.heading, index.title].map((postings) => timesOf(postings, term));
    return (number: number) => {
      const times = text.get(number) ?? 0;
      const inText = (times * 2.2) / (times + 1.2 * (0.25 + (0.75 * lengths[number]) / average));
      return rarity * (inText + 3 * Math.min(1, heading.get(number) ?? 0) + Math.min(1, title.get(number) ?? 0));
    };
  });
  return sections
    .map((section, number) => {
      const parts = found.map((score) => score(number)).filter((part) => part > 0);
      return { section, score: parts.reduce((sum, part) => sum + part, 0) * (parts.length / Math.max(1, terms.length)) };
    })
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, limit)
    .map(({ section }) => ({ ...section, excerpt: excerptOf(section.text, terms) }));
}

/** Words in lower case; one with an underscore counts whole and in its parts. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.flatMap((word) => (word.includes('_') ? [word, ...word.split('_').filter(Boolean)] : [word]));
}

/** How often a term stands in each section; another form of the word (`token`, `tokens`) counts half. */
function timesOf(postings: Postings, term: string): Map<number, number> {
  const times = new Map<number, number>();
  for (const [word, places] of postings) {
    const weight = weightOf(word, term);
    if (weight > 0) for (const [number, count] of places) times.set(number, (times.get(number) ?? 0) + weight * count);
  }
  return times;
}

const weightOf = (word: string, term: string) => (word === term ? 1 : isForm(word, term) || isForm(term, word) ? 0.5 : 0);

const isForm = (word: string, stem: string) => stem.length >= 4 && word.length - stem.length <= 3 && word.startsWith(stem);

/** The part of a text that holds most of the terms. */
function excerptOf(text: string, terms: readonly string[]): string {
  if (text.length <= EXCERPT_LENGTH) return text;
  const sentences = text.split(/(?<=[.:;?!]) /);
  const scores = sentences.map((sentence) => {
    const words = new Set(wordsOf(sentence));
    return terms.reduce((sum, term) => sum + Math.max(0, ...[...words].map((word) => weightOf(word, term))), 0);
  });
  const best = scores.indexOf(Math.max(...scores));
  const cut = sentences.slice(best).join(' ').slice(0, EXCERPT_LENGTH);
  return `${best > 0 ? '… ' : ''}${cut}${cut.length === EXCERPT_LENGTH ? ' …' : ''}`;
}
