import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

export type WaitlistService = Input<'joinWaitlist'>['service'];

const WAITLIST = ['waitlist'];

export const useWaitlist = () =>
  useQuery({ queryKey: WAITLIST, queryFn: ({ signal }) => call<'waitlist'>('GET', '/api/waitlist', {}, signal) });

export function useJoinWaitlist() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (service: WaitlistService) => call<'joinWaitlist'>('POST', '/api/waitlist', { service }),
    onSuccess: (waitlist) => queries.setQueryData(WAITLIST, waitlist),
  });
}
