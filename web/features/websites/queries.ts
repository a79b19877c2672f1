import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Output } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

export type Website = Output<'listWebsites'>[number];
export type Claim = Output<'claimWebsite'>;

const LIST = ['websites'];

export const useWebsites = () =>
  useQuery({ queryKey: LIST, queryFn: ({ signal }) => call<'listWebsites'>('GET', '/api/websites', {}, signal) });

/** Adds a website, or changes the given one. An icon that is left out stays as it is. */
export function useSaveWebsite(website: Website | null) {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (input: { domain: string; iconUrl?: string | null }) =>
      website
        ? call<'updateWebsite'>('PUT', '/api/websites/{id}', { id: website.id, ...input })
        : call<'createWebsite'>('POST', '/api/websites', input),
    onSuccess: refresh,
  });
}

export function useDeleteWebsite() {
  const refresh = useRefresh();
  return useMutation({ mutationFn: (id: string) => call<'deleteWebsite'>('DELETE', '/api/websites/{id}', { id }), onSuccess: refresh });
}

/** How to prove a domain, one's own or one that somebody else has registered. */
export const useClaim = () =>
  useMutation({ mutationFn: (domain: string) => call<'claimWebsite'>('GET', '/api/websites/claim/{domain}', { domain }) });

/** Has the service look for the proof. */
export function useProveWebsite() {
  const refresh = useRefresh();
  return useMutation({
    mutationFn: (domain: string) => call<'proveWebsite'>('POST', '/api/websites/prove', { domain }),
    onSuccess: refresh,
  });
}

function useRefresh() {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: LIST });
}
