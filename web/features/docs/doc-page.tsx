import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../../../contract/client.ts';
import { docPageOf, docPages, docPath, markdownPath, type DocPage as Page, parentOf, slugAt } from '../../../docs/pages.ts';
import { sectionsOf } from '../../../docs/sections.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy-button.tsx';
import { ArrowIcon, BackIcon } from '../../ui/icons.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Failed, Loading, Skeleton } from '../../ui/states.tsx';
import { DocNav } from './doc-nav.tsx';
import { Markdown } from './markdown.tsx';

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
  const markdown = query.data;
  const isLoaded = markdown !== undefined;
  // The text is rendered after the browser has tried to scroll to the fragment of the URL.
  useEffect(() => {
    if (isLoaded) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [isLoaded]);

  return (
    <div className="grid gap-x-14 lg:grid-cols-[13rem_minmax(0,1fr)]">
      <DocNav slug={slug} sections={isLoaded ? sectionsOf(markdown) : []} />
      <article className="min-w-0 max-w-3xl py-8 sm:py-14">
        <PageHeading title={title} className="text-3xl leading-9" />
        <p className="mt-3 text-lg leading-7 text-muted">{description}</p>
        <div className="mt-5 flex flex-wrap gap-2">
          <CopyPage markdown={markdown} />
          <ButtonLink variant="secondary" href={markdownPath(slug)} className="px-3 text-sm">
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
          {isLoaded && <Markdown text={markdown} isPrompt={slug.startsWith('prompts/')} />}
        </div>
        <PageLinks slug={slug} />
      </article>
    </div>
  );
}

/** A button that copies the whole page as Markdown, for an assistant. */
function CopyPage({ markdown }: { markdown: string | undefined }) {
  return (
    <Button variant="secondary" small busy={markdown === undefined} onClick={() => copyText(markdown ?? '', 'Page copied as Markdown')}>
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

/** Loads a page of the documentation as the Markdown that assistants read. */
function useDoc(slug: string) {
  return useQuery({
    queryKey: ['doc', slug],
    queryFn: ({ signal }) => fetchText(markdownPath(slug), signal),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: slug !== '',
  });
}

/** @throws ApiError with status 0 when the service cannot be reached */
async function fetchText(path: string, signal: AbortSignal): Promise<string> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { signal });
    text = await response.text();
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ApiError(0, { error: 'The service cannot be reached.' }, { cause });
  }
  if (!response.ok) throw new ApiError(response.status, { error: 'This page could not be loaded.' });
  return text;
}
