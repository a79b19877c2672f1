import type { Token, Tokens } from 'marked';
import { createElement, Fragment, type ReactNode } from 'react';
import { anchorOf } from '../../../templates/doc-text.ts';
import { CodeBlock } from '../../ui/code.tsx';
import { DocLink, linkLook } from './doc-link.tsx';

const LABELS: Record<string, string> = { sh: 'terminal', js: 'JavaScript', ts: 'TypeScript', html: 'HTML', json: 'JSON', toml: 'TOML' };
const headings: Record<number, string> = {
  2: 'mt-12 mb-4 scroll-mt-4 text-xl font-semibold tracking-tight',
  3: 'mt-8 mb-3 scroll-mt-4 font-semibold tracking-tight',
};

/** Blocks of Markdown as elements of the page. Nothing in them is taken for HTML. @param prose code is a prompt, whose lines break */
export function Blocks({ tokens, prose = false }: { tokens: readonly Token[]; prose?: boolean }) {
  return keyed(tokens, (token) => <Block token={token} prose={prose} />);
}

function Block({ token, prose }: { token: Token; prose: boolean }): ReactNode {
  switch (token.type) {
    case 'heading': {
      const { depth, text, tokens } = token as Tokens.Heading;
      const id = anchorOf(text);
      return createElement(
        `h${depth}`,
        { id, className: headings[depth] },
        <a href={`#${id}`} className="group hover:underline hover:decoration-line hover:underline-offset-4">
          <Words tokens={tokens} />
          <span aria-hidden="true" className="ml-2 font-normal text-edge opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100">
            #
          </span>
        </a>,
      );
    }
    case 'paragraph':
      return (
        <p className="my-4 leading-7 [overflow-wrap:anywhere]">
          <Words tokens={(token as Tokens.Paragraph).tokens} />
        </p>
      );
    case 'text':
      return <Words tokens={(token as Tokens.Text).tokens ?? [token]} />;
    case 'code': {
      const { lang = 'text', text } = token as Tokens.Code;
      return (
        <div className="my-5">
          <CodeBlock label={prose ? 'prompt' : (LABELS[lang] ?? lang)} code={text} prose={prose} />
        </div>
      );
    }
    case 'list': {
      const { ordered, start, items } = token as Tokens.List;
      return createElement(
        ordered ? 'ol' : 'ul',
        {
          start: ordered && start !== 1 ? start : undefined,
          className: `my-4 space-y-2 pl-5 leading-7 marker:text-muted [overflow-wrap:anywhere] ${ordered ? 'list-decimal' : 'list-disc'}`,
        },
        keyed(items, (item) => (
          <li>
            <Blocks tokens={item.tokens} />
          </li>
        )),
      );
    }
    case 'table':
      return <Table {...(token as Tokens.Table)} />;
    default:
      return null;
  }
}

// By the number of columns.
const widths = ['', '', '', 'min-w-[36rem]', 'min-w-[60rem]'];

/** A table that scrolls by itself where it is wider than the page, by keyboard too. */
function Table({ header, rows }: Tokens.Table) {
  const cell = 'border-b border-line py-2.5 pr-4 text-left align-top last:pr-0';
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus (WCAG 2.1.1)
      tabIndex={0}
      className="my-5 overflow-x-auto -outline-offset-2"
    >
      <table
        className={`w-full text-[0.9375rem] leading-6 [&_code]:[overflow-wrap:normal] [&_td:first-child_code]:whitespace-nowrap ${widths[Math.min(header.length, 4)]}`}
      >
        {header.some(({ text }) => text) && (
          <thead>
            <tr>
              {keyed(header, ({ text, tokens }) =>
                // A heading without a word would be read out as one.
                text ? (
                  <th scope="col" className={`${cell} font-medium text-muted`}>
                    <Words tokens={tokens} />
                  </th>
                ) : (
                  <td className={cell} />
                ),
              )}
            </tr>
          </thead>
        )}
        <tbody>
          {keyed(rows, (row) => (
            <tr>
              {keyed(row, ({ tokens }) => (
                <td className={cell}>
                  <Words tokens={tokens} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Words in a line: code, emphasis and links among them. */
function Words({ tokens }: { tokens: readonly Token[] }): ReactNode {
  return keyed(tokens, (token) => {
    switch (token.type) {
      case 'codespan':
        return (
          <code className="rounded bg-sunk px-1 py-0.5 font-mono text-[0.8125rem] [overflow-wrap:anywhere]">
            {(token as Tokens.Codespan).text}
          </code>
        );
      case 'strong':
        return (
          <strong className="font-semibold">
            <Words tokens={(token as Tokens.Strong).tokens} />
          </strong>
        );
      case 'em':
        return (
          <em>
            <Words tokens={(token as Tokens.Em).tokens} />
          </em>
        );
      case 'link':
        return (
          <DocLink href={(token as Tokens.Link).href} className={linkLook}>
            <Words tokens={(token as Tokens.Link).tokens} />
          </DocLink>
        );
      case 'text':
      case 'escape':
        return plain((token as Tokens.Text).text);
      default:
        return null;
    }
  });
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** Text in which a few characters may stand as HTML writes them. */
const plain = (text: string) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]);

/** The text of a page does not change, so that a place in it is a key. */
function keyed<Item>(items: readonly Item[], show: (item: Item) => ReactNode): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: see above
  return items.map((item, index) => <Fragment key={index}>{show(item)}</Fragment>);
}
