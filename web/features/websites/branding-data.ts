import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { accentFault } from '../../../contract/colors.ts';
import type { Output } from '../../../contract/routes.ts';
import { fromNameFault, logoUrlFault, websiteNameFault } from '../../../contract/rules.ts';
import { api } from '../../lib/api.ts';

export type Branding = Output<'websiteBranding'>;
export type BrandingDraft = Omit<Branding, 'defaults'>;
export type BrandingFieldName = keyof BrandingDraft;

const keyOf = (id: string) => ['websites', 'branding', id];

export const useBranding = (id: string) =>
  useQuery({ queryKey: keyOf(id), queryFn: ({ signal }) => api.websiteBranding({ id }, { signal }) });

export function useSaveBranding(id: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (draft: BrandingDraft) => api.saveWebsiteBranding({ id, ...draft }),
    onSuccess: (saved) => queries.setQueryData(keyOf(id), saved),
  });
}

/** Returns why each field of a draft cannot be saved, or null. */
export function faultsOf({ name, accent, fromName, logoUrl }: BrandingDraft): Record<BrandingFieldName, string | null> {
  return {
    name: websiteNameFault(name.trim()),
    accent: accentFault(accent.trim()),
    fromName: fromNameFault(fromName.trim()),
    logoUrl: logoUrlFault(logoUrl.trim()),
  };
}
