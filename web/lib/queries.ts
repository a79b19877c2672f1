import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { STATS_DAYS, STATS_PERIODS } from '../../contract/limits.ts';
import type { WebsiteSort } from '../../contract/websites.ts';
import { paths } from '../paths.ts';
import { api } from './api.ts';

/** How long statistics, lists and activity are shown from the cache when the page is opened again. */
const STALE_MS = 5_000;
const RECENT_ENTRIES = 4;

export type Period = (typeof STATS_PERIODS)[number];

/** Reads the days of a chart from an address. */
export const periodOf = (query: URLSearchParams): Period => STATS_PERIODS.find((days) => String(days) === query.get('days')) ?? STATS_DAYS;

/** The statistics of the account. */
export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => api.overview({}, { signal }),
  staleTime: STALE_MS,
});

/** The newest entries of the audit log. */
export const recentActivityQuery = queryOptions({
  queryKey: ['activity', 'recent'],
  queryFn: ({ signal }) => api.auditLogs({ limit: RECENT_ENTRIES }, { signal }),
  staleTime: STALE_MS,
});

/** The sign-ins per day of the last days, with the total of the period before. */
export const accountLoginsQuery = (days: Period) =>
  queryOptions({
    queryKey: ['overview', 'logins', days],
    queryFn: ({ signal }) => api.accountLogins({ days }, { signal }),
    staleTime: STALE_MS,
  });

/** What of the list of websites is shown, as its address says it. */
export type ListState = { q: string; sort: WebsiteSort; page: number };

/** Websites on one page of the list. */
export const PAGE_SIZE = 25;
/** The orders of the list, the default first. */
export const sorts: readonly { value: WebsiteSort; label: string }[] = [
  { value: 'added', label: 'Newest first' },
  { value: 'name', label: 'By name' },
  { value: 'sign-ins', label: 'Most sign-ins' },
];

/** Reads the state from an address; what is missing or unknown there is the default. */
export function listStateOf(query: URLSearchParams): ListState {
  const sort = sorts.find(({ value }) => value === query.get('sort'))?.value ?? 'added';
  const page = Number(query.get('page'));
  return {
    q: query.get('q')?.trim().slice(0, 253) ?? '',
    sort,
    page: Number.isSafeInteger(page) && page > 0 ? Math.min(page, 1_000_000) : 1,
  };
}

/** Returns the address of the list in a state. */
export function listPath({ q, sort, page }: ListState): string {
  const query = new URLSearchParams();
  if (q) query.set('q', q);
  if (sort !== 'added') query.set('sort', sort);
  if (page > 1) query.set('page', String(page));
  return query.size > 0 ? `${paths.websites}?${query}` : paths.websites;
}

/** One page of the list. Its key is below that of all websites, so that every change refreshes it. */
export const websitesQuery = (state: ListState) =>
  queryOptions({
    queryKey: ['websites', 'page', state],
    queryFn: ({ signal }) => api.searchWebsites({ ...state, limit: PAGE_SIZE }, { signal }),
    staleTime: STALE_MS,
  });

/** Websites and sections of the documentation that are listed. */
const MAX_FOUND = 6;
/** After the last key. */
const DELAY_MS = 120;
/** The documentation is searched from this length on. */
const MIN_DOCS_QUERY = 3;
const SEARCH_STALE_MS = 60_000;

/** Loads the websites whose domain contains a text, the newest for an empty one. The service searches: an account may have thousands. */
export function useFoundWebsites(text: string, enabled: boolean) {
  const q = useDelayed(text.trim(), DELAY_MS);
  const found = useQuery({
    queryKey: ['websites', 'found', q],
    queryFn: ({ signal }) => api.searchWebsites({ q, limit: MAX_FOUND }, { signal }),
    enabled,
    placeholderData: keepPreviousData,
    staleTime: SEARCH_STALE_MS,
  });
  // While a search runs, the list is the one before.
  const typed = text.trim().toLowerCase();
  const websites = (found.data?.websites ?? []).filter(({ domain, displayDomain }) => `${displayDomain} ${domain}`.includes(typed));
  return { websites, isSearching: found.isFetching || text.trim() !== q };
}

/** Loads the sections of the documentation that match a text. */
export function useFoundSections(text: string, enabled: boolean) {
  const q = useDelayed(text.trim(), DELAY_MS);
  return useQuery({
    queryKey: ['docs', 'found', q],
    queryFn: ({ signal }) => api.searchDocs({ q }, { signal }),
    select: (sections) => sections.slice(0, MAX_FOUND),
    enabled: enabled && q.length >= MIN_DOCS_QUERY,
    placeholderData: q.length >= MIN_DOCS_QUERY ? keepPreviousData : undefined,
  });
}

/** Loads the applications and API keys, which are few, with the keys of their page. */
export function useOwnClients(enabled: boolean) {
  const applications = useQuery({ queryKey: ['applications'], queryFn: ({ signal }) => api.listClients({}, { signal }), enabled });
  const apiKeys = useQuery({
    queryKey: ['api-keys'],
    queryFn: ({ signal }) => api.listApiKeys({}, { signal }),
    enabled,
    staleTime: SEARCH_STALE_MS,
  });
  return { applications: applications.data ?? [], apiKeys: apiKeys.data ?? [] };
}

/** Returns a value once it has stayed the same for a time, so that not every key of an input starts a request. */
function useDelayed<Value>(value: Value, delayMs: number): Value {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return delayed;
}
