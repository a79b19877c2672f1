import { type ComponentType, createElement, Fragment, type ReactNode } from 'react';
import { docPath, slugAt } from '../../../docs/pages.ts';
import { useSite } from '../../lib/site.ts';
import { CodeBlock } from '../../ui/copyable.tsx';
import type { DocAttributes, DocNode } from './doc-text.ts';

/** Renders a part of a page. The browser lays it out when it comes near the screen; a margin does not reach beyond it. */
export const DocPart = ({ nodes }: { nodes: readonly DocNode[] }) => (
  <div className="[content-visibility:auto] [contain-intrinsic-height:auto_30rem] not-last:[&>:last-child]:mb-0">
    {createElement(Fragment, null, ...nodes.map(elementOf))}
  </div>
);

function elementOf(node: DocNode): ReactNode {
  if (typeof node === 'string') return node;
  const [tag, attributes, ...children] = node;
  const component = components[tag];
  if (component) return createElement(component, attributes, ...children.map(elementOf));
  return createElement(tag, { ...attributes, className: styles[tag] }, ...children.map(elementOf));
}

const CELL = 'border-b border-line py-2.5 pr-4 text-left align-top last:pr-0';

const styles: Record<string, string> = {
  p: 'my-4 leading-7 wrap-anywhere',
  ul: 'my-4 list-disc space-y-2 pl-5 leading-7 marker:text-muted wrap-anywhere',
  ol: 'my-4 list-decimal space-y-2 pl-5 leading-7 marker:text-muted wrap-anywhere',
  strong: 'font-semibold',
  code: 'rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem] wrap-anywhere',
  td: CELL,
};

type Attributes = DocAttributes & { children?: ReactNode };

const components: Record<string, ComponentType<Attributes>> = {
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
  a: DocLink,
  pre: ({ label = 'text', children }) => (
    <div className="my-5">
      <CodeBlock label={label} code={String(children)} prose={label === 'prompt'} />
    </div>
  ),
  table: Table,
  th: ({ children }) => (
    <th scope="col" className={`${CELL} font-medium text-muted`}>
      {children}
    </th>
  ),
};

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

const linkStyle = 'underline decoration-edge underline-offset-4 hover:text-accent hover:decoration-accent';

/** A link in a text. It opens a page of the documentation as HTML instead of Markdown. */
function DocLink({ href = '', children }: Attributes) {
  const { origin } = useSite();
  return (
    <a href={htmlPathOf(href, origin) ?? href} className={linkStyle}>
      {children}
    </a>
  );
}

/** Returns the path of a link to a page of the documentation, and null for any other link. */
function htmlPathOf(href: string, ownOrigin: string): string | null {
  if (!URL.canParse(href)) return null;
  const { origin, pathname, hash } = new URL(href);
  const slug = origin === ownOrigin && pathname.endsWith('.md') ? slugAt(pathname.slice(0, -3)) : null;
  return slug === null ? null : docPath(slug) + hash;
}

/** A long address in the first column leaves the others at least these widths. */
const WIDTHS: Record<number, string> = {
  3: 'min-w-[36rem] [&_td:nth-child(n+2)]:min-w-40',
  4: 'min-w-[66rem] [&_td:nth-child(2)]:min-w-64',
};

/** A table that scrolls within the page when it is wider, also with the keyboard. */
function Table({ columns = 1, children }: Attributes) {
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1)
      tabIndex={0}
      className="my-5 overflow-x-auto -outline-offset-2"
    >
      <table
        className={`w-full text-[0.9375rem] leading-6 [&_code]:[overflow-wrap:normal] [&_td:first-child_code]:whitespace-nowrap ${WIDTHS[Math.min(columns, 4)] ?? ''}`}
      >
        {children}
      </table>
    </div>
  );
}
