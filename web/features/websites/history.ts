import { useQuery } from '@tanstack/react-query';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';

/** The sign-ins to a website, in sum and per day. */
export type History = Output<'websiteHistory'>;

/** How long statistics are shown from the cache when the page is opened again. */
const STALE_MS = 5_000;

/** Loads the sign-ins to a website. @param days one of STATS_PERIODS */
export const useHistory = (id: string, days: number) =>
  useQuery({
    queryKey: ['websites', 'history', id, days],
    queryFn: ({ signal }) => api.websiteHistory({ id, days }, { signal }),
    staleTime: STALE_MS,
  });
