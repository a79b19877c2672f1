/** A part of a page under one heading. */
export type DocSection = {
  heading: string;
  /** Of the heading, 1 to 6. */
  level: number;
  /** What a link's fragment names it by. */
  anchor: string;
  /** Its text without Markdown's marks. */
  text: string;
};

/** The anchor of a heading, as GitHub makes it: lower case, blanks to hyphens, nothing but letters, digits, `_` and `-`. */
export function anchorOf(heading: string): string {
  return withoutMarks(heading)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

/** Cuts a page at its headings; what looks like one inside of code is none. */
export function sectionsOf(markdown: string): DocSection[] {
  const sections: { heading: string; level: number; lines: string[] }[] = [];
  let fence: string | null = null;
  for (const line of markdown.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? null;
    if (mark && fence === null) fence = mark;
    else if (mark && fence !== null && line.trim() === mark && mark.startsWith(fence)) fence = null;
    const [, marks, heading] = (fence === null && /^(#{1,6}) (.+)$/.exec(line)) || [];
    if (heading) sections.push({ heading, level: marks.length, lines: [] });
    else if (!mark) sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, level, lines }) => ({
    heading: withoutMarks(heading),
    level,
    anchor: anchorOf(heading),
    text: plainText(lines.join('\n')),
  }));
}

/** Text without the marks of lists, tables and comments, nor those of `withoutMarks`. */
function plainText(markdown: string): string {
  return withoutMarks(
    markdown
      .replace(/<!--[\s\S]*?-->/g, '')
      .replace(/^\s*(?:[-*>]|\d+\.) +/gm, '')
      .replace(/^\|[-| :]*\|$/gm, '')
      .replace(/ *\| */g, ' '),
  )
    .replace(/\s+/g, ' ')
    .trim();
}

/** Text without the marks of links, code and emphasis. */
const withoutMarks = (markdown: string) => markdown.replace(/!?\[([^\]]*)\]\([^)\s]*\)/g, '$1').replace(/\*\*|`/g, '');
