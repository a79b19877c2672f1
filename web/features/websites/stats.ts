import { useQuery } from '@tanstack/react-query';
import type { Output } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

/** The sign-ins of a website in the last 30 UTC days. */
export type Figures = Output<'websiteStats'>[number];

/** Who comes back to the page after that sees them measured again. */
const FRESH_MS = 5_000;

/** The figures of the account's websites by their ids. The key lies below the list's, so that what refreshes the list refreshes them. */
export const useWebsiteStats = () =>
  useQuery({
    queryKey: ['websites', 'figures'],
    queryFn: async ({ signal }) => {
      const list = await call<'websiteStats'>('GET', '/api/websites/figures', {}, signal);
      return new Map(list.map((figures) => [figures.id, figures]));
    },
    staleTime: FRESH_MS,
  });
