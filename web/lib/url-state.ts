import { MAX_PAGE, STATS_DAYS, STATS_PERIODS } from '../../contract/limits.ts';
import { MAX_HOST_LENGTH } from '../../contract/urls.ts';
import type { SortOrder, WebsiteSort } from '../../contract/website-list.ts';
import { paths, WEBSITES_PER_PAGE } from '../pages.ts';
import { callQuery, STALE_MS } from './calls.ts';

type Period = (typeof STATS_PERIODS)[number];

/** Reads the days of a chart from an address. */
export const periodOf = (query: URLSearchParams): Period => STATS_PERIODS.find((days) => String(days) === query.get('days')) ?? STATS_DAYS;

/** What of the list of websites is shown, as its address says it. */
export type ListState = { q: string; sort: WebsiteSort; order: SortOrder; page: number };

/** What the list can be sorted by, the default first. `order`: which of both is meant, where the address has none. */
export const sorts: readonly { value: WebsiteSort; label: string; order: SortOrder }[] = [
  { value: 'added', label: 'Newest first', order: 'desc' },
  { value: 'name', label: 'By name', order: 'asc' },
  { value: 'state', label: 'Verified first', order: 'desc' },
  { value: 'sign-ins', label: 'Most sign-ins', order: 'desc' },
  { value: 'success', label: 'Highest success', order: 'desc' },
  { value: 'last', label: 'Last sign-in', order: 'desc' },
  { value: 'team', label: 'Largest team', order: 'desc' },
];

const usualOrder = (sort: WebsiteSort) => sorts.find(({ value }) => value === sort)?.order ?? 'desc';

/** Returns the state after the heading of a column was chosen: its order, then the other one, then the default of the list. */
export function sortedBy(state: ListState, sort: WebsiteSort): ListState {
  const usual = usualOrder(sort);
  if (state.sort !== sort) return { ...state, sort, order: usual, page: 1 };
  if (state.order === usual) return { ...state, order: usual === 'asc' ? 'desc' : 'asc', page: 1 };
  return { ...state, sort: 'added', order: 'desc', page: 1 };
}

/** Reads the state from an address; what is missing or unknown there is the default. */
export function listStateOf(query: URLSearchParams): ListState {
  const sort = sorts.find(({ value }) => value === query.get('sort'))?.value ?? 'added';
  const order = query.get('order');
  const page = Number(query.get('page'));
  return {
    q: query.get('q')?.trim().slice(0, MAX_HOST_LENGTH) ?? '',
    sort,
    order: order === 'asc' || order === 'desc' ? order : usualOrder(sort),
    page: Number.isSafeInteger(page) && page > 0 ? Math.min(page, MAX_PAGE) : 1,
  };
}

/** Returns the address of the list in a state. */
export function listPath({ q, sort, order, page }: ListState): string {
  const query = new URLSearchParams();
  if (q) query.set('q', q);
  if (sort !== 'added') query.set('sort', sort);
  if (order !== usualOrder(sort)) query.set('order', order);
  if (page > 1) query.set('page', String(page));
  return query.size > 0 ? `${paths.websites}?${query}` : paths.websites;
}

/** Returns the query of one page of the list. */
export const websitesQuery = (state: ListState, limit = WEBSITES_PER_PAGE) => ({
  ...callQuery('searchWebsites', { ...state, limit }),
  staleTime: STALE_MS,
});
