import type { ReactNode } from 'react';
import { docGroups, docPageOf, docPages, docPath, markdownPath, type DocPage as Page, parentOf } from '../../../docs/pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { cx } from '../../ui/cx.ts';
import { ArrowIcon, BackIcon, DownIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { DocPart } from './doc-elements.tsx';
import type { DocText } from './doc-text.ts';

/** A page of the documentation, at /webservices/email-auth/…. */
export function DocPage({ page, text, search }: { page: Page; text: DocText; search: ReactNode }) {
  const { slug, title, description } = page;
  const list = <Pages slug={slug} sections={text.sections} />;
  return (
    <div className="grid gap-x-14 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <nav aria-label="Documentation" className="hidden self-start py-14 lg:sticky lg:top-0 lg:block lg:max-h-dvh lg:overflow-y-auto">
        {list}
      </nav>
      <details className="group -mx-4 border-b border-line px-4 sm:-mx-6 sm:px-6 lg:hidden">
        <summary className="flex min-h-12 list-none items-center justify-between text-sm font-medium [&::-webkit-details-marker]:hidden">
          All pages
          <DownIcon className="size-4 text-muted group-open:rotate-180" />
        </summary>
        <nav aria-label="Documentation" className="pb-4">
          {list}
        </nav>
      </details>
      <article className="min-w-0 max-w-3xl py-8 sm:py-14">
        {search}
        <PageHeading title={title} className="text-3xl leading-9" />
        <p className="mt-3 text-lg leading-7 text-muted">{description}</p>
        <div className="mt-5 flex flex-wrap gap-2">
          <Button variant="secondary" small data-copy-page={markdownPath(slug)} className="needs-script">
            Copy page
          </Button>
          <ButtonLink variant="secondary" small href={markdownPath(slug)}>
            View as Markdown
          </ButtonLink>
        </div>
        <div className="mt-8 border-t border-line pt-4">
          {text.parts.map((nodes, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
            <DocPart key={index} nodes={nodes} />
          ))}
        </div>
        <PageLinks slug={slug} />
      </article>
    </div>
  );
}

/** Links to the previous and the next page. */
function PageLinks({ slug }: { slug: string }) {
  const parent = parentOf(slug);
  const index = docPages.findIndex((page) => page.slug === slug);
  const [previous, next] = parent ? [docPageOf(parent), undefined] : [docPages[index - 1], docPages[index + 1]];
  const link = 'flex min-h-11 items-center gap-2 font-medium hover:text-accent';
  return (
    <nav aria-label="Previous and next page" className="mt-14 flex flex-wrap justify-between gap-x-8 border-t border-line pt-4">
      {previous && (
        <a href={docPath(previous.slug)} className={link}>
          <BackIcon /> {previous.title}
        </a>
      )}
      {next && (
        <a href={docPath(next.slug)} className={`${link} ml-auto`}>
          {next.title} <ArrowIcon />
        </a>
      )}
    </nav>
  );
}

/** The pages in their groups, with the sections of the current one. */
function Pages({ slug, sections }: { slug: string; sections: DocText['sections'] }) {
  const listedSlug = parentOf(slug) ?? slug;
  return docGroups.map(({ title: group, pages }) => (
    <div key={group} className="not-first:mt-5">
      <p className="text-[0.8125rem] leading-5 font-medium text-ink">{group}</p>
      <ul className="mt-1 -ml-3 text-sm">
        {pages.map((page) => {
          const isCurrent = page.slug === listedSlug;
          return (
            <li key={page.slug}>
              <a
                href={docPath(page.slug)}
                aria-current={page.slug === slug ? 'page' : undefined}
                className={cx(
                  'flex min-h-11 items-center rounded-control px-3 -outline-offset-2 hover:bg-sunk hover:text-ink pointer-fine:min-h-9',
                  isCurrent ? 'bg-sunk font-medium text-ink' : 'text-muted',
                )}
              >
                {page.title}
              </a>
              {page.slug === slug && <Sections sections={sections} />}
            </li>
          );
        })}
      </ul>
    </div>
  ));
}

function Sections({ sections }: { sections: DocText['sections'] }) {
  if (sections.length < 2) return null;
  return (
    <ul className="mb-2 ml-3 border-l border-line">
      {sections.map(({ heading, anchor }) => (
        <li key={anchor}>
          <a
            href={`#${anchor}`}
            className="flex min-h-11 items-center px-3 py-1 text-[0.8125rem] leading-5 text-muted hover:text-ink pointer-fine:min-h-9"
          >
            {heading}
          </a>
        </li>
      ))}
    </ul>
  );
}
