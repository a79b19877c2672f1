import { MAX_PAGE, STATS_DAYS, STATS_PERIODS } from '../../contract/limits.ts';
import { MAX_HOST_LENGTH } from '../../contract/urls.ts';
import type { WebsiteSort } from '../../contract/websites.ts';
import { paths, WEBSITES_PER_PAGE } from '../pages.ts';
import { callQuery, STALE_MS } from './calls.ts';

type Period = (typeof STATS_PERIODS)[number];

/** Reads the days of a chart from an address. */
export const periodOf = (query: URLSearchParams): Period => STATS_PERIODS.find((days) => String(days) === query.get('days')) ?? STATS_DAYS;

/** What of the list of websites is shown, as its address says it. */
export type ListState = { q: string; sort: WebsiteSort; page: number };

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
    q: query.get('q')?.trim().slice(0, MAX_HOST_LENGTH) ?? '',
    sort,
    page: Number.isSafeInteger(page) && page > 0 ? Math.min(page, MAX_PAGE) : 1,
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

/** Returns the query of one page of the list. */
export const websitesQuery = (state: ListState) => ({
  ...callQuery('searchWebsites', { ...state, limit: WEBSITES_PER_PAGE }),
  staleTime: STALE_MS,
});
