import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';

export type Website = Output<'listWebsites'>[number];
export type Claim = Output<'claimWebsite'>;

const LIST = ['websites'];

export const useWebsites = () => useQuery({ queryKey: LIST, queryFn: ({ signal }) => api.listWebsites({}, { signal }) });

/** Loads a website that the account manages. Its key is below that of the list, so that a change refreshes both. */
export const useWebsite = (domain: string) =>
  useQuery({ queryKey: [...LIST, 'of', domain], queryFn: ({ signal }) => api.readWebsite({ domain }, { signal }) });

/** Adds a website or changes the given one. Without an `iconUrl`, its icon stays. */
export function useSaveWebsite(website: Website | null) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (input: { domain: string; iconUrl?: string | null }) =>
      website ? api.updateWebsite({ id: website.id, ...input }) : api.createWebsite(input),
    onSuccess: refresh,
  });
}

export function useDeleteWebsite() {
  const refresh = useRefresh();
  return useMutation({ mutationFn: (id: string) => api.deleteWebsite({ id }), onSuccess: refresh });
}

/** Loads how to prove a domain, which another account may have registered. */
export const useClaim = () => useMutation({ mutationFn: (domain: string) => api.claimWebsite({ domain }) });

/** Makes the service check the proof of a domain. */
export function useProveWebsite() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (domain: string) => api.proveWebsite({ domain }),
    onSuccess: refresh,
  });
}

function useRefresh() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: LIST });
}

/** The sign-ins of a website in the last 30 UTC days. */
export type WebsiteStats = Output<'websiteStats'>[number];

/** How long statistics are shown from the cache when the page is opened again. */
const STATS_STALE_MS = 5_000;

/** Loads the statistics of the account's websites by id. Their key is below that of the list, so that both are refreshed together. */
export const useWebsiteStats = () =>
  useQuery({
    queryKey: ['websites', 'stats'],
    queryFn: async ({ signal }) => {
      const list = await api.websiteStats({}, { signal });
      return new Map(list.map((stats) => [stats.id, stats]));
    },
    staleTime: STATS_STALE_MS,
  });
