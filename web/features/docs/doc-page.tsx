import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { docPageOf, docPages, docPath, type DocPage as Page, parentOf, slugAt, twinPath } from '../../../templates/doc-pages.ts';
import { sectionsOf } from '../../../templates/doc-text.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-button.tsx';
import { ArrowIcon, BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Failed, Skeleton } from '../../ui/states.tsx';
import { DocNav } from './doc-nav.tsx';
import { Blocks } from './markdown.tsx';
import { useDoc } from './queries.ts';

/** /webservices/email-auth/…: a page of the documentation. @param notFound for a path without a page */
export function DocPage({ notFound }: { notFound: ReactNode }) {
  const [path] = useLocation();
  const page = docPageOf(slugAt(path.replace(/\/$/, '')) ?? '');
  return page ? <LoadedPage key={page.slug} page={page} /> : notFound;
}

function LoadedPage({ page: { slug, title, description } }: { page: Page }) {
  const query = useDoc(slug);
  const { data } = query;
  const isLoaded = data !== undefined;
  // The browser looked for the anchor of the address before the text was rendered.
  useEffect(() => {
    if (isLoaded) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [isLoaded]);

  return (
    <div className="grid gap-x-14 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <DocNav slug={slug} sections={data ? sectionsOf(data.markdown) : []} />
      <article className="min-w-0 max-w-3xl py-8 sm:py-14">
        <PageHeading title={title} className="text-3xl leading-9" />
        <p className="mt-3 text-lg leading-7 text-muted">{description}</p>
        <div className="mt-5 flex flex-wrap gap-2">
          <CopyPage markdown={data?.markdown} />
          <ButtonLink variant="secondary" href={twinPath(slug)} className="px-3 text-sm">
            View as Markdown
          </ButtonLink>
        </div>
        <div className="mt-8 border-t border-line pt-4">
          {query.isError && <Failed {...query} fallback="This page could not be loaded." />}
          {query.isPending && (
            <div role="status" aria-label="Loading the page">
              <Skeleton className="mt-4 h-96 w-full" />
            </div>
          )}
          {/* The first token is the title; the description, a quotation, is left out as well. */}
          {data && <Blocks tokens={data.tokens.slice(1)} prose={slug.startsWith('prompts/')} />}
        </div>
        <Neighbours slug={slug} />
      </article>
    </div>
  );
}

/** Copies the page as Markdown, for an assistant. */
function CopyPage({ markdown }: { markdown: string | undefined }) {
  return (
    <Button variant="secondary" small busy={markdown === undefined} onClick={() => copyText(markdown ?? '', 'Page copied as Markdown')}>
      Copy page
    </Button>
  );
}

/** Links to the previous and the next page. */
function Neighbours({ slug }: { slug: string }) {
  const parent = parentOf(slug);
  const at = docPages.findIndex((page) => page.slug === slug);
  const [before, after] = parent ? [docPageOf(parent), undefined] : [docPages[at - 1], docPages[at + 1]];
  const link = 'flex min-h-11 items-center gap-2 font-medium hover:text-accent';
  return (
    <nav aria-label="Before and after" className="mt-14 flex flex-wrap justify-between gap-x-8 border-t border-line pt-4">
      {before && (
        <Link href={docPath(before.slug)} className={link}>
          <BackIcon /> {before.title}
        </Link>
      )}
      {after && (
        <Link href={docPath(after.slug)} className={`${link} ml-auto`}>
          {after.title} <ArrowIcon />
        </Link>
      )}
    </nav>
  );
}
