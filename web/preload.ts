import type { QueryClient } from '@tanstack/react-query';
import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import { hasSession, isSessionFresh } from './lib/session.ts';
import { latestAddress } from './lib/storage.ts';

/** A page whose chunk is loaded when it is rendered, or before by `preload`. */
type LazyPage<Props> = LazyExoticComponent<ComponentType<Props>> & { preload(): void };

/** Returns a page that is loaded when it is rendered. @param name of its export */
export function lazyPage<Name extends string, Props = object>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
): LazyPage<Props> {
  // A chunk that could not be loaded is reported when the page is rendered.
  const preload = () => void load().catch(() => {});
  return Object.assign(
    lazy(async () => ({ default: (await load())[name] })),
    { preload },
  );
}

/** What a page needs: its chunks, and the calls that it makes first. */
export type Needs = {
  chunks: readonly { preload(): void }[];
  /** Starts the first calls; they are those of a signed-in developer. */
  data?: (queries: QueryClient, query: URLSearchParams) => unknown;
};

/** Loads what the page at an address needs, all at once. @param needsOf returns what the page at a path needs, if it is known */
export function preloadPage(address: URL, queries: QueryClient, needsOf: (path: string) => Needs | undefined) {
  if (address.origin !== location.origin) return;
  const needs = needsOf(address.pathname);
  for (const chunk of needs?.chunks ?? []) chunk.preload();
  const { data } = needs ?? {};
  // Without a session, the calls would only fail.
  if (!data || !latestAddress()) return;
  if (isSessionFresh()) data(queries, address.searchParams);
  else void hasSession(queries).then((isValid) => isValid && data(queries, address.searchParams));
}

/** Preloads the page of a link that the pointer or the focus is on. */
export function watchLinks(queries: QueryClient, needsOf: (path: string) => Needs | undefined) {
  const onIntent = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null;
    if (link?.href && link.target !== '_blank') preloadPage(new URL(link.href), queries, needsOf);
  };
  document.addEventListener('pointerover', onIntent, { passive: true });
  document.addEventListener('focusin', onIntent);
}
