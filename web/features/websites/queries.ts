import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';

export type Website = Output<'listWebsites'>[number];
/** What each tab of a website's page gets. */
export type TabProps = { website: Website };
export type Claim = Output<'claimWebsite'>;

const LIST = ['websites'];

/** Loads a website that the account manages. Its key is below that of the list, so that a change refreshes both. */
export const useWebsite = (domain: string, enabled = true) =>
  useQuery({ queryKey: [...LIST, 'of', domain], queryFn: ({ signal }) => api.readWebsite({ domain }, { signal }), enabled });

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

/** Returns a function that loads everything about websites again. It does not wait, so that a page can leave a website that has ended. */
export function useRefresh() {
  const queries = useQueryClient();
  return () => void queries.invalidateQueries({ queryKey: LIST });
}
