import { useQuery } from '@tanstack/react-query';
import type { Output } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

export type Status = Output<'status'>;
export type State = Status['state'];
export type History = NonNullable<Status['history']>;

const MINUTE_MS = 60_000;

/** What the service has measured of itself, asked again every minute while somebody looks. */
export const useStatus = () =>
  useQuery({
    queryKey: ['status'],
    queryFn: ({ signal }) => call<'status'>('GET', '/api/status', {}, signal),
    staleTime: 0,
    refetchInterval: MINUTE_MS,
    refetchOnWindowFocus: true,
  });
