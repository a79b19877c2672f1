import docs from 'virtual:docs';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue, useEffect, useMemo, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { docPageOf, docPages, docPath, markdownPath, type DocPage as Page, parentOf, slugAt } from '../../../docs/pages.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { copyText } from '../../ui/copyable.tsx';
import { cx } from '../../ui/cx.ts';
import { ArrowIcon, BackIcon, DownIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Failed, Loading, Skeleton } from '../../ui/states.tsx';
import { DocPart } from './doc-elements.tsx';
import { type DocText, fetchDocText, fetchText } from './doc-text.ts';

/** A page of the documentation, at /webservices/email-auth/…. @param notFound shown at a path without a page */
export function DocPage({ notFound }: { notFound: ReactNode }) {
  const [path] = useLocation();
  const page = docPageOf(slugAt(path.replace(/\/$/, '')) ?? '');
  const { isPending } = useDoc(page?.slug ?? '');
  const [isOpen, setOpen] = useState(false);
  if (!page) return notFound;
  // The first page is rendered with its text, because everything else would move when the text arrives.
  if (!isOpen && isPending) return <Loading />;
  if (!isOpen) setOpen(true);
  return <Article key={page.slug} page={page} />;
}

function Article({ page: { slug, title, description } }: { page: Page }) {
  const query = useDoc(slug);
  const text = query.data;
  const parts = useParts(text?.parts);
  const isComplete = text !== undefined && parts === text.parts;
  // The text is rendered after the browser has tried to scroll to the fragment of the URL.
  useEffect(() => {
    if (isComplete) targetOf(location.hash.slice(1))?.scrollIntoView();
  }, [isComplete]);

  return (
    <div className="grid gap-x-14 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <DocNav slug={slug} sections={text?.sections ?? []} />
      <article className="min-w-0 max-w-3xl py-8 sm:py-14">
        <PageHeading title={title} className="text-3xl leading-9" />
        <p className="mt-3 text-lg leading-7 text-muted">{description}</p>
        <div className="mt-5 flex flex-wrap gap-2">
          <CopyPage slug={slug} />
          <ButtonLink variant="secondary" href={markdownPath(slug)} className="px-3 text-sm">
            View as Markdown
          </ButtonLink>
        </div>
        <div data-loading={isComplete || query.isError ? undefined : ''} className="mt-8 border-t border-line pt-4">
          {query.isError && <Failed {...query} fallback="This page could not be loaded." />}
          {parts.length === 0 && !query.isError && (
            <div role="status" aria-label="Loading the page">
              <Skeleton className="mt-4 h-96 w-full" />
            </div>
          )}
          {parts.map((nodes) => (
            <DocPart key={anchorOf(nodes)} nodes={nodes} />
          ))}
        </div>
        {(isComplete || query.isError) && <PageLinks slug={slug} />}
      </article>
    </div>
  );
}

/** Returns the element that a fragment of a URL names, as it is or percent-encoded; null for none, or one that cannot be decoded. */
function targetOf(fragment: string): HTMLElement | null {
  try {
    return document.getElementById(fragment) ?? document.getElementById(decodeURIComponent(fragment));
  } catch {
    return null;
  }
}

const NONE: DocText['parts'] = [];
/** Parts that fill a screen, except in the shortest pages. */
const FIRST_PARTS = 3;

/** Returns the id of the heading of a part; the one before the first heading has none. */
const anchorOf = ([first]: DocText['parts'][number]) => (typeof first === 'string' ? undefined : first[1].id) ?? '';

/** Returns the parts to render: first the beginning of the page, then all of it without blocking the browser. */
function useParts(all: DocText['parts'] = NONE): DocText['parts'] {
  const first = useMemo(() => all.slice(0, FIRST_PARTS), [all]);
  return useDeferredValue(all, first);
}

/** A button that copies the whole page as Markdown, for an assistant. */
function CopyPage({ slug }: { slug: string }) {
  const [isBusy, setBusy] = useState(false);
  const copy = async () => {
    setBusy(true);
    await copyText(fetchText(markdownPath(slug)), 'Page copied as Markdown');
    setBusy(false);
  };
  return (
    <Button variant="secondary" small busy={isBusy} onClick={copy}>
      Copy page
    </Button>
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
        <Link href={docPath(previous.slug)} className={link}>
          <BackIcon /> {previous.title}
        </Link>
      )}
      {next && (
        <Link href={docPath(next.slug)} className={`${link} ml-auto`}>
          {next.title} <ArrowIcon />
        </Link>
      )}
    </nav>
  );
}

function useDoc(slug: string) {
  return useQuery({
    queryKey: ['doc', slug],
    queryFn: ({ signal }) => fetchDocText(docs[slug], signal),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: slug !== '',
  });
}

type CurrentPage = { slug: string; sections: DocText['sections'] };

/** The list of pages, with the sections of the current one: a sidebar, or a collapsed list on narrow screens. */
function DocNav(current: CurrentPage) {
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
