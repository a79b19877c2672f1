import { Link } from 'wouter';
import { docPages, docPath, parentOf } from '../../../docs/pages.ts';
import { cx } from '../../ui/cx.ts';
import { DownIcon } from '../../ui/icons.tsx';
import type { DocText } from './doc-text.ts';

type CurrentPage = { slug: string; sections: DocText['sections'] };

/** The list of pages, with the sections of the current one: a sidebar, or a collapsed list on narrow screens. */
export function DocNav(current: CurrentPage) {
  return (
    <>
      <nav aria-label="Documentation" className="hidden self-start py-14 lg:sticky lg:top-0 lg:block lg:max-h-dvh lg:overflow-y-auto">
        <Pages {...current} />
      </nav>
      <details key={current.slug} className="group -mx-4 border-b border-line px-4 sm:-mx-6 sm:px-6 lg:hidden">
        <summary className="flex min-h-12 list-none items-center justify-between text-sm font-medium [&::-webkit-details-marker]:hidden">
          All pages
          <DownIcon className="size-4 text-muted group-open:rotate-180" />
        </summary>
        <nav aria-label="Documentation" className="pb-4">
          <Pages {...current} />
        </nav>
      </details>
    </>
  );
}

function Pages({ slug, sections }: CurrentPage) {
  const listedSlug = parentOf(slug) ?? slug;
  return (
    <ul className="-ml-3 text-sm">
      {docPages.map((page) => {
        const isCurrent = page.slug === listedSlug;
        return (
          <li key={page.slug}>
            <Link
              href={docPath(page.slug)}
              aria-current={page.slug === slug ? 'page' : undefined}
              className={cx(
                'flex min-h-11 items-center rounded-control px-3 hover:bg-sunk hover:text-ink',
                isCurrent ? 'font-medium text-ink' : 'text-muted',
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

function Sections({ sections }: { sections: DocText['sections'] }) {
  if (sections.length < 2) return null;
  return (
    <ul className="mb-2 ml-3 border-l border-line">
      {sections.map(({ heading, anchor }) => (
        <li key={anchor}>
          <a href={`#${anchor}`} className="flex min-h-11 items-center px-3 py-1 text-[0.8125rem] leading-5 text-muted hover:text-ink">
            {heading}
          </a>
        </li>
      ))}
    </ul>
  );
}
