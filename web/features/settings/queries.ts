import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { useCacheSettings } from '../../lib/session.ts';

/** Has the key of the websites page, whose changes then update this list. */
export const useWebsites = () => useQuery({ queryKey: ['websites'], queryFn: ({ signal }) => api.listWebsites({}, { signal }) });

export function useSaveProfile() {
  const cache = useCacheSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (profile: Input<'saveProfile'>) => api.saveProfile(profile),
    onSuccess: (settings) => {
      cache(settings);
      return queries.invalidateQueries({ queryKey: ['me'] });
    },
  });
}

export function useSaveOrganisation() {
  const cache = useCacheSettings();
  return useMutation({
    mutationFn: (organisation: Input<'saveOrganisation'>) => api.saveOrganisation(organisation),
    onSuccess: cache,
  });
}

export function useSaveBranding() {
  const cache = useCacheSettings();
  return useMutation({
    mutationFn: (branding: Input<'saveBranding'>) => api.saveBranding(branding),
    onSuccess: cache,
  });
}
