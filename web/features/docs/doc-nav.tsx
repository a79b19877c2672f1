import { Link } from 'wouter';
import { docPages, docPath, parentOf } from '../../../templates/doc-pages.ts';
import type { DocSection } from '../../../templates/doc-text.ts';
import { cx } from '../../ui/cx.ts';
import { DownIcon } from '../../ui/icons.tsx';

type Position = { slug: string; sections: readonly DocSection[] };

/** The list of pages, with the sections of the current one: at the side, or collapsed on a narrow screen. */
export function DocNav(position: Position) {
  return (
    <>
      <nav aria-label="Documentation" className="hidden self-start py-14 lg:sticky lg:top-0 lg:block lg:max-h-dvh lg:overflow-y-auto">
        <Pages {...position} />
      </nav>
      <details key={position.slug} className="group -mx-4 border-b border-line px-4 sm:-mx-6 sm:px-6 lg:hidden">
        <summary className="flex min-h-12 list-none items-center justify-between text-sm font-medium [&::-webkit-details-marker]:hidden">
          All pages
          <DownIcon className="size-4 text-muted group-open:rotate-180" />
        </summary>
        <nav aria-label="Documentation" className="pb-4">
          <Pages {...position} />
        </nav>
      </details>
    </>
  );
}

function Pages({ slug, sections }: Position) {
  const shown = parentOf(slug) ?? slug;
  return (
    <ul className="-ml-3 text-sm">
      {docPages.map((page) => {
        const isShown = page.slug === shown;
        return (
          <li key={page.slug}>
            <Link
              href={docPath(page.slug)}
              aria-current={page.slug === slug ? 'page' : undefined}
              className={cx(
                'flex min-h-11 items-center rounded-control px-3 hover:bg-sunk hover:text-ink',
                isShown ? 'font-medium text-ink' : 'text-muted',
              )}
            >
              {page.title}
            </Link>
            {page.slug === slug && <Sections sections={sections} />}
          </li>
        );
      })}
    </ul>
  );
}

function Sections({ sections }: { sections: readonly DocSection[] }) {
  const parts = sections.filter(({ level }) => level === 2);
  if (parts.length < 2) return null;
  return (
    <ul className="mb-2 ml-3 border-l border-line">
      {parts.map(({ heading, anchor }) => (
        <li key={anchor}>
          <a href={`#${anchor}`} className="flex min-h-11 items-center px-3 py-1 text-[0.8125rem] leading-5 text-muted hover:text-ink">
            {heading}
          </a>
        </li>
      ))}
    </ul>
  );
}
