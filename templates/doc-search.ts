import type { DocSection } from './doc-text.ts';

/** A section of a page, as something to be found. */
export type Searchable = DocSection & { slug: string; title: string };

/** What a search found. */
export type Hit = Searchable & { excerpt: string };

const MOST_TERMS = 12;
const EXCERPT_LENGTH = 280;
// Words of questions, which stand on every page.
const COMMON = new Set(
  'a an and are as at be by can do does for from how i if in is it my of on or that the this to use what when where which with you your'.split(
    ' ',
  ),
);

/**
 * Sections by how well they answer a query: BM25 over their text, a heading and a page's title weighing more, and all terms
 * of the query more than some of them.
 * @param limit how many at most
 */
export function searchSections(sections: readonly Searchable[], query: string, limit: number): Hit[] {
  const terms = [...new Set(wordsOf(query.slice(0, 400)))].filter((word) => !COMMON.has(word)).slice(0, MOST_TERMS);
  const fields = sections.map((section) => ({
    section,
    text: wordsOf(section.text),
    heading: wordsOf(section.heading),
    title: wordsOf(`${section.title} ${section.slug}`),
  }));
  const average = fields.reduce((sum, { text }) => sum + text.length, 0) / Math.max(1, fields.length);
  const rarity = new Map(
    terms.map((term) => {
      const having = fields.filter(({ text, heading }) => text.includes(term) || heading.includes(term)).length;
      return [term, Math.log(1 + (fields.length - having + 0.5) / (having + 0.5))];
    }),
  );
  const scored = fields.map(({ section, text, heading, title }) => {
    const parts = terms.map((term) => {
      const times = timesIn(text, term);
      const inText = (times * 2.2) / (times + 1.2 * (0.25 + (0.75 * text.length) / Math.max(1, average)));
      const places = inText + 3 * Math.min(1, timesIn(heading, term)) + Math.min(1, timesIn(title, term));
      return (rarity.get(term) ?? 0) * places;
    });
    const found = parts.filter((part) => part > 0).length;
    return { section, score: parts.reduce((sum, part) => sum + part, 0) * (found / Math.max(1, terms.length)) };
  });
  return scored
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

/** How often a term stands there; another form of the word (`token`, `tokens`) counts half. */
function timesIn(words: readonly string[], term: string): number {
  let times = 0;
  for (const word of words) {
    if (word === term) times += 1;
    else if (isForm(word, term) || isForm(term, word)) times += 0.5;
  }
  return times;
}

const isForm = (word: string, stem: string) => stem.length >= 4 && word.length - stem.length <= 3 && word.startsWith(stem);

/** The part of a text that holds most of the terms. */
function excerptOf(text: string, terms: readonly string[]): string {
  if (text.length <= EXCERPT_LENGTH) return text;
  const sentences = text.split(/(?<=[.:;?!]) /);
  const scores = sentences.map((sentence) => terms.reduce((sum, term) => sum + Math.min(1, timesIn(wordsOf(sentence), term)), 0));
  const best = scores.indexOf(Math.max(...scores));
  const cut = sentences.slice(best).join(' ').slice(0, EXCERPT_LENGTH);
  return `${best > 0 ? '… ' : ''}${cut}${cut.length === EXCERPT_LENGTH ? ' …' : ''}`;
}
