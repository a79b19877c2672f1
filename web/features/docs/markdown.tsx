import type { ComponentProps, ReactNode } from 'react';
import ReactMarkdown, { type Components, type ExtraProps } from 'react-markdown';
import rehypeSlug from 'rehype-slug';
import remarkGfm from 'remark-gfm';
import { CodeBlock } from '../../ui/code.tsx';
import { DocLink, linkStyle } from './doc-link.tsx';

type Node = NonNullable<ExtraProps['node']>;

const LANGUAGE_LABELS: Record<string, string> = {
  sh: 'terminal',
  js: 'JavaScript',
  ts: 'TypeScript',
  html: 'HTML',
  json: 'JSON',
  toml: 'TOML',
};

/** Renders the Markdown of a page without its title and description, which the page shows itself. HTML in it is skipped. */
export function Markdown({ text, isPrompt }: { text: string; isPrompt: boolean }) {
  return (
    <ReactMarkdown
      remarkPlugins={[remarkGfm]}
      rehypePlugins={[rehypeSlug]}
      components={isPrompt ? promptComponents : components}
      disallowedElements={['h1', 'blockquote']}
      skipHtml
    >
      {text}
    </ReactMarkdown>
  );
}

const components: Components = {
  h2: ({ id, children }) => (
    <h2 id={id} className="mt-12 mb-4 scroll-mt-4 text-xl font-semibold tracking-tight">
      <HeadingLink id={id}>{children}</HeadingLink>
    </h2>
  ),
  h3: ({ id, children }) => (
    <h3 id={id} className="mt-8 mb-3 scroll-mt-4 font-semibold tracking-tight">
      <HeadingLink id={id}>{children}</HeadingLink>
    </h3>
  ),
  p: ({ children }) => <p className="my-4 leading-7 wrap-anywhere">{children}</p>,
  ul: ({ children }) => <ul className="my-4 list-disc space-y-2 pl-5 leading-7 marker:text-muted wrap-anywhere">{children}</ul>,
  ol: ({ start, children }) => (
    <ol start={start} className="my-4 list-decimal space-y-2 pl-5 leading-7 marker:text-muted wrap-anywhere">
      {children}
    </ol>
  ),
  a: ({ href = '', children }) => (
    <DocLink href={href} className={linkStyle}>
      {children}
    </DocLink>
  ),
  strong: ({ children }) => <strong className="font-semibold">{children}</strong>,
  code: ({ children }) => <code className="rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem] wrap-anywhere">{children}</code>,
  pre: ({ node }) => <FencedCode node={node} label={languageLabel(node)} />,
  table: Table,
  thead: ({ node, children }) => (node && textOf(node).trim() === '' ? null : <thead>{children}</thead>),
  // An empty header cell is a td, because screen readers announce an empty th as a heading.
  th: ({ children }) =>
    children ? (
      <th scope="col" className={`${CELL} font-medium text-muted`}>
        {children}
      </th>
    ) : (
      <td className={CELL} />
    ),
  td: ({ children }) => <td className={CELL}>{children}</td>,
};

const promptComponents: Components = { ...components, pre: ({ node }) => <FencedCode node={node} label="prompt" wrap /> };

function HeadingLink({ id, children }: { id: string | undefined; children: ReactNode }) {
  return (
    <a href={`#${id}`} className="group hover:underline hover:decoration-line hover:underline-offset-4">
      {children}
      <span aria-hidden="true" className="ml-2 font-normal text-edge opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100">
        #
      </span>
    </a>
  );
}

function FencedCode({ node, label, wrap = false }: { node: Node | undefined; label: string; wrap?: boolean }) {
  return (
    <div className="my-5">
      <CodeBlock label={label} code={node ? textOf(node).replace(/\n$/, '') : ''} prose={wrap} />
    </div>
  );
}

/** Returns the name of the language of a `pre` element; its `code` child has a class such as `language-ts`. */
function languageLabel(node: Node | undefined): string {
  const [code] = node?.children ?? [];
  const classes = code?.type === 'element' ? code.properties.className : undefined;
  const language = Array.isArray(classes) ? String(classes[0]).replace('language-', '') : 'text';
  return LANGUAGE_LABELS[language] ?? language;
}

const CELL = 'border-b border-line py-2.5 pr-4 text-left align-top last:pr-0';
const WIDTHS: Record<number, string> = { 3: 'min-w-[36rem]', 4: 'min-w-[60rem]' };

/** A table that scrolls within the page when it is wider, also with the keyboard. */
function Table({ node, children }: ComponentProps<'table'> & ExtraProps) {
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1)
      tabIndex={0}
      className="my-5 overflow-x-auto -outline-offset-2"
    >
      <table
        className={`w-full text-[0.9375rem] leading-6 [&_code]:[overflow-wrap:normal] [&_td:first-child_code]:whitespace-nowrap ${WIDTHS[Math.min(columnsOf(node), 4)] ?? ''}`}
      >
        {children}
      </table>
    </div>
  );
}

/** Returns the number of columns of a table; a row has one th for each, and text nodes between them. */
function columnsOf(table: Node | undefined): number {
  const row = table && firstElement(firstElement(table));
  return row?.children.filter(({ type }) => type === 'element').length ?? 0;
}

const firstElement = (node: Node | undefined) => node?.children.find((child) => child.type === 'element');

const textOf = (node: Node): string =>
  node.children.map((child) => (child.type === 'text' ? child.value : child.type === 'element' ? textOf(child) : '')).join('');
