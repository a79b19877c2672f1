import type { Element, ElementContent, Root, RootContent } from 'hast';
import { toString as textOf } from 'hast-util-to-string';
import rehypeSlug from 'rehype-slug';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';
import type { Plugin } from 'vite';
import { ORIGIN_PLACEHOLDER } from '../contract/pages.ts';
import { docPages, frameworkPages, promptPages } from '../docs/pages.ts';
import { readDoc } from '../docs/read.ts';
import { sectionsOf } from '../docs/search.ts';
import type { DocNode, DocText } from './features/docs/doc-text.ts';

/** Writes docs/SLUG.json beside the renderer of the static pages: the tree of each page of the documentation (server/pages/static-pages.ts). */
export const docs: Plugin = {
  name: 'docs',
  applyToEnvironment: ({ name }) => name === 'staticServer',
  async generateBundle() {
    const pages = [...docPages, ...frameworkPages, ...promptPages].map(async ({ slug }) => {
      const text = docTextOf((await readDoc(slug, { origin: ORIGIN_PLACEHOLDER })) ?? '', slug.startsWith('prompts/'));
      this.emitFile({ type: 'asset', fileName: `docs/${slug}.json`, source: JSON.stringify(text) });
    });
    await Promise.all(pages);
  },
};

const parser = unified().use(remarkParse).use(remarkGfm).use(remarkRehype).use(rehypeSlug);

/**
 * Returns the text of a Markdown page without its title and description, which the page shows itself, and without HTML.
 * @param isPrompt whether its code is a prompt
 */
export function docTextOf(markdown: string, isPrompt = false): DocText {
  const root: Root = parser.runSync(parser.parse(markdown));
  const sections = sectionsOf(markdown).filter(({ level }) => level === 2);
  return {
    sections: sections.map(({ heading, anchor }) => ({ heading, anchor })),
    parts: partsOf(nodesOf(root.children, isPrompt)),
  };
}

function partsOf(nodes: DocNode[]): DocNode[][] {
  const parts: DocNode[][] = [];
  for (const node of nodes) {
    if (parts.length === 0 || /^h\d$/.test(node[0])) parts.push([node]);
    else parts.at(-1)?.push(node);
  }
  return parts;
}

const SKIPPED = new Set(['h1', 'blockquote']);
/** Elements whose white space is not shown. */
const WITHOUT_TEXT = new Set(['ul', 'ol', 'table', 'thead', 'tbody', 'tr']);

function nodesOf(children: readonly (RootContent | ElementContent)[], isPrompt: boolean, parent?: string): DocNode[] {
  const isSpace = (value: string) => value.trim() === '' && (parent === undefined || WITHOUT_TEXT.has(parent));
  return children.flatMap((child) => {
    if (child.type === 'text') return isSpace(child.value) ? [] : [child.value];
    return child.type === 'element' && !SKIPPED.has(child.tagName) ? nodeOf(child, isPrompt) : [];
  });
}

function nodeOf(element: Element, isPrompt: boolean): DocNode[] {
  const { tagName, properties } = element;
  if (tagName === 'pre') return [['pre', { label: isPrompt ? 'prompt' : labelOf(element) }, textOf(element).replace(/\n$/, '')]];
  if (tagName === 'thead' && textOf(element).trim() === '') return [];
  // Screen readers announce an empty th as a heading.
  const tag = tagName === 'th' && element.children.length === 0 ? 'td' : tagName;
  const attributes = {
    ...(properties.id !== undefined && { id: String(properties.id) }),
    ...(properties.href !== undefined && { href: String(properties.href) }),
    ...(properties.start !== undefined && { start: Number(properties.start) }),
    ...(tag === 'table' && { columns: columnsOf(element) }),
  };
  return [[tag, attributes, ...nodesOf(element.children, isPrompt, tagName)]];
}

const LANGUAGE_LABELS: Record<string, string> = {
  sh: 'terminal',
  js: 'JavaScript',
  ts: 'TypeScript',
  html: 'HTML',
  json: 'JSON',
  toml: 'TOML',
};

/** Returns the name of the language of a `pre` element; its `code` child has a class such as `language-ts`. */
function labelOf(pre: Element): string {
  const [code] = pre.children;
  const classes = code?.type === 'element' ? code.properties.className : undefined;
  const language = Array.isArray(classes) ? String(classes[0]).replace('language-', '') : 'text';
  return LANGUAGE_LABELS[language] ?? language;
}

const elementsOf = ({ children }: Element) => children.filter((child): child is Element => child.type === 'element');

/** Returns the number of columns of a table. */
function columnsOf(table: Element): number {
  const [row] = elementsOf(table).flatMap(elementsOf);
  return row ? elementsOf(row).length : 0;
}
