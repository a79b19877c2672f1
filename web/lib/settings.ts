import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { Output } from '../../contract/routes.ts';
import { call } from './call.ts';

export type Settings = Output<'settings'>;

const SETTINGS = ['settings'];

/** The account's profile, organisation and branding. */
export const useSettings = () =>
  useQuery({ queryKey: SETTINGS, queryFn: ({ signal }) => call<'settings'>('GET', '/api/user/settings', {}, signal) });

/** Takes over what a change answered. */
export function useKeepSettings() {
  const queries = useQueryClient();
  return (settings: Settings) => queries.setQueryData(SETTINGS, settings);
}
