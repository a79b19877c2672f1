import { queryOptions } from '@tanstack/react-query';
import { STATS_DAYS, STATS_PERIODS } from '../../contract/limits.ts';
import { api } from './api.ts';

/** How long statistics and activity are shown from the cache when the page is opened again. */
const STALE_MS = 5_000;
const RECENT_ENTRIES = 4;

export type Period = (typeof STATS_PERIODS)[number];

/** Reads the days of a chart from an address. */
export const periodOf = (query: URLSearchParams): Period => STATS_PERIODS.find((days) => String(days) === query.get('days')) ?? STATS_DAYS;

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: ({ signal }) => api.overview({}, { signal }),
  staleTime: STALE_MS,
});

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
