import type { QueryClient } from '@tanstack/react-query';
import { type ComponentType, type LazyExoticComponent, lazy, type ReactNode, Suspense, useEffect } from 'react';
import { Link, Redirect, Route, type RouterProps, useLocation } from 'wouter';
import { PageBoundary, SignedInOnly } from './chrome/page-states.tsx';
import { NotFound } from './chrome/public-frame.tsx';
import { PortalShell, PublicShell } from './chrome/shell.tsx';
import { callQuery, STALE_MS } from './lib/calls.ts';
import { hasSession, isSessionFresh } from './lib/session.ts';
import { latestAddress } from './lib/storage.ts';
import { type PortalPage, pageAt, pages, paths, type Source, sourcesOf } from './pages.ts';

type LazyComponent = LazyExoticComponent<ComponentType<Record<string, ReactNode>>> & { preload(): void };

/** The functions that load the files with the components of `pages`. The build fails when one is missing (build-pages.ts). */
const files = import.meta.glob<Record<string, ComponentType<Record<string, ReactNode>>>>([
  './features/*/*-{page,pages}.tsx',
  './features/*/{connections,devices,invitations,website-cards}.tsx',
  '!./features/signin/**',
]);

const components = Object.fromEntries(
  Object.values(pages)
    .flatMap((page) => ('component' in page ? sourcesOf(page) : []))
    .map((source) => [source, lazyComponent(source)]),
);

/** Returns a component whose chunk is loaded when it is rendered, or before by `preload`. */
function lazyComponent(source: Source): LazyComponent {
  const [file, name] = source.split('#');
  const load = files[`./${file}`];
  // A chunk that could not be loaded is reported when the page is rendered.
  const preload = () => void load().catch(() => {});
  return Object.assign(
    lazy(async () => ({ default: (await load())[name] })),
    { preload },
  );
}

/** The pages of the portal entry. */
export function Routes() {
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new page is shown from its top
  useEffect(() => {
    scrollTo(0, 0);
  }, [path]);
  const found = pageAt(path);
  if (found?.page.frame === 'redirect') return <Redirect to={paths[found.page.to]} replace />;
  return (
    <Route path={found?.path}>
      {found ? (
        <Framed path={found.path} page={found.page} />
      ) : (
        <PublicShell>
          <NotFound as={Link} path={path} />
        </PublicShell>
      )}
    </Route>
  );
}

/** A page in its frame. */
function Framed({ path, page: { frame, component, parts = {}, above, around } }: { path: string; page: PortalPage }) {
  const [Page, Above, Around] = [components[component], above && components[above], around && components[around]];
  const page = (
    <>
      {Above && (
        <Suspense fallback={null}>
          <Above />
        </Suspense>
      )}
      <Page notFound={<NotFound as={Link} path={location.pathname} />} {...elementsOf(parts)} />
    </>
  );
  if (frame === 'none') {
    return (
      <PageBoundary>
        <Suspense fallback={<main data-loading className="grow" />}>{page}</Suspense>
      </PageBoundary>
    );
  }
  const content = <PageBoundary key={path}>{page}</PageBoundary>;
  if (frame === 'public') return <PublicShell>{content}</PublicShell>;
  const own = <SignedInOnly>{content}</SignedInOnly>;
  return (
    <PortalShell>
      {Around ? (
        <PageBoundary>
          <Around>{own}</Around>
        </PageBoundary>
      ) : (
        own
      )}
    </PortalShell>
  );
}

function elementsOf(parts: Record<string, Source>): Record<string, ReactNode> {
  const elements = Object.entries(parts).map(([property, source]) => {
    const Part = components[source];
    return [property, <Part key={source} />];
  });
  return Object.fromEntries(elements);
}

/** Opens a page: within this document where this entry has it, else by a page load. */
export const openPage: NonNullable<RouterProps['aroundNav']> = (navigate, to, options) => {
  if (pageAt(new URL(to, location.href).pathname)) navigate(to, options);
  else if (options?.replace) location.replace(to);
  else location.assign(to);
};

/** Loads what the page at an address needs: its chunks, and the data that it asks for in advance. */
export function preloadPage({ origin, pathname, search }: URL, queries: QueryClient) {
  const page = origin === location.origin ? pageAt(pathname)?.page : undefined;
  if (!page || page.frame === 'redirect') return;
  for (const source of sourcesOf(page)) components[source].preload();
  // Without a session, the calls would only fail; with a query, the page makes others.
  const { prefetches } = page;
  if (!prefetches || search || !latestAddress()) return;
  const prefetch = () => {
    for (const [name, input] of prefetches) void queries.prefetchQuery({ ...callQuery(name, input), staleTime: STALE_MS });
  };
  if (isSessionFresh()) prefetch();
  else void hasSession(queries).then((isValid) => isValid && prefetch());
}

/** Preloads the page of a link that the pointer or the focus is on. */
export function watchLinks(queries: QueryClient) {
  const onIntent = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.href && link.target !== '_blank') preloadPage(new URL(link.href), queries);
  };
  document.addEventListener('pointerover', onIntent, { passive: true });
  document.addEventListener('focusin', onIntent);
}
