import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { MAX_LOG_EXPORT } from '../../../contract/limits.ts';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { type LiveEvent, useLiveEvents } from './live-events.ts';
import { type LogFilters, passes, queryOf } from './log-filters.ts';
import type { Website } from './queries.ts';

type Page = Output<'websiteLog'>;

/** Rows that are loaded before the page waits for the person. */
const SCREENFUL = 50;

/** Loads the log page by page. One call may return few rows or none, so calls follow until there is a screenful or the log ends. */
export function useLog({ id }: Website, filters: LogFilters) {
  const [wanted, setWanted] = useState(SCREENFUL);
  const query = useInfiniteQuery({
    queryKey: ['websites', 'log', id, filters],
    queryFn: ({ pageParam, signal }) => api.websiteLog({ id, ...queryOf(filters), before: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }: Page) => cursor ?? undefined,
    // The live events begin at the newest event of the first page.
    gcTime: 0,
  });
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const events = data?.pages.flatMap((page) => page.events) ?? [];
  const isSearching = hasNextPage && !isError && events.length < wanted;
  useEffect(() => {
    if (isSearching && !isFetching) void fetchNextPage();
  }, [isSearching, isFetching, fetchNextPage]);
  return {
    events,
    latest: data?.pages[0].latest ?? undefined,
    /** All events since this time are loaded. */
    searchedTo: data?.pages.at(-1)?.searchedTo,
    isLoaded: data !== undefined,
    isSearching,
    hasMore: hasNextPage,
    error: query.error,
    showMore: () => setWanted(events.length + SCREENFUL),
    retry: () => (data ? fetchNextPage() : query.refetch()),
    isFetching,
  };
}

/** Follows the events after those of `useLog` that pass the filters, newest first. @param latest undefined: not known yet */
export function useLaterEvents({ domain }: Website, filters: LogFilters, latest: string | undefined, paused: boolean) {
  const { events = [], error } = useLiveEvents(domain, paused || latest === undefined, latest);
  return { later: events.filter((event) => passes(event, filters)).reverse(), error };
}

/**
 * Loads up to MAX_LOG_EXPORT rows of the log, newest first.
 * @param onProgress receives how many are loaded
 * @returns `isWhole`: there are no earlier ones
 */
export async function loadForExport(
  { id }: Website,
  filters: LogFilters,
  signal: AbortSignal,
  onProgress: (rows: number) => void,
): Promise<{ events: LiveEvent[]; isWhole: boolean }> {
  const events: LiveEvent[] = [];
  let before: string | undefined;
  for (;;) {
    const page: Page = await api.websiteLog({ id, ...queryOf(filters), before }, { signal });
    events.push(...page.events);
    onProgress(Math.min(events.length, MAX_LOG_EXPORT));
    if (page.cursor === null || events.length >= MAX_LOG_EXPORT)
      return { events: events.slice(0, MAX_LOG_EXPORT), isWhole: page.cursor === null && events.length <= MAX_LOG_EXPORT };
    before = page.cursor;
  }
}
