import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Output } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

export type Device = Output<'listDevices'>[number];

const DEVICES = ['devices'];

/** Asked anew each time: devices come without this page's doing. */
export const useDevices = () =>
  useQuery({ queryKey: DEVICES, queryFn: ({ signal }) => call<'listDevices'>('GET', '/api/user/devices', {}, signal), staleTime: 0 });

/** Signs another device out; its row goes at once, and comes back when the service refuses. */
export function useSignOutDevice() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => call<'signOutDevice'>('DELETE', '/api/user/devices/{id}', { id }),
    onMutate: async (id) => {
      await queries.cancelQueries({ queryKey: DEVICES });
      const before = queries.getQueryData<Device[]>(DEVICES);
      queries.setQueryData<Device[]>(DEVICES, (devices) => devices?.filter((device) => device.id !== id));
      return before;
    },
    onError: (_error, _id, before) => queries.setQueryData(DEVICES, before),
  });
}
