import { slug } from 'github-slugger';

/** A heading of a page with the text below it. */
export type DocSection = {
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
