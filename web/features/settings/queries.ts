import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';
import { useKeepSettings } from '../../lib/settings.ts';

/** Under the key of the websites' own page, whose changes are seen here at once. */
export const useWebsites = () =>
  useQuery({ queryKey: ['websites'], queryFn: ({ signal }) => call<'listWebsites'>('GET', '/api/websites', {}, signal) });

export function useSaveProfile() {
  const keep = useKeepSettings();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (profile: Input<'saveProfile'>) => call<'saveProfile'>('PUT', '/api/user/profile', profile),
    onSuccess: (settings) => {
      keep(settings);
      return queries.invalidateQueries({ queryKey: ['me'] });
    },
  });
}

export function useSaveOrganisation() {
  const keep = useKeepSettings();
  return useMutation({
    mutationFn: (organisation: Input<'saveOrganisation'>) => call<'saveOrganisation'>('PUT', '/api/user/organisation', organisation),
    onSuccess: keep,
  });
}

export function useSaveBranding() {
  const keep = useKeepSettings();
  return useMutation({
    mutationFn: (branding: Input<'saveBranding'>) => call<'saveBranding'>('PUT', '/api/user/branding', branding),
    onSuccess: keep,
  });
}
