import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input, Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';
import { useRefresh } from './queries.ts';

export type Member = Output<'listMembers'>[number];
export type Invitation = Output<'listInvitations'>[number];

// Below the list of websites, so that a change of a website refreshes its team too.
const teamKey = (id: string) => ['websites', 'team', id];
const INVITATIONS = ['invitations'];

/** Loads the team of a website. Fetched at each mount: others accept invitations. */
export const useTeam = (id: string) =>
  useQuery({ queryKey: teamKey(id), queryFn: ({ signal }) => api.listMembers({ id }, { signal }), staleTime: 0 });

function useRefreshTeam(id: string) {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: teamKey(id) });
}

/** Emails an invitation, or renews one. */
export function useInvite(id: string) {
  const refresh = useRefreshTeam(id);
  return useMutation({ mutationFn: (input: Omit<Input<'inviteMember'>, 'id'>) => api.inviteMember({ id, ...input }), onSuccess: refresh });
}

export function useChangeRole(id: string) {
  const refresh = useRefreshTeam(id);
  return useMutation({
    mutationFn: (input: Omit<Input<'changeMember'>, 'id'>) => api.changeMember({ id, ...input }),
    onSettled: refresh,
  });
}

/** Removes a member or an invitation. @param isLeaving the account removes itself, and cannot load the team any more */
export function useRemoveMember(id: string, isLeaving: boolean) {
  const refresh = useRefreshTeam(id);
  return useMutation({
    mutationFn: (email: string) => api.removeMember({ id, email }),
    onSuccess: () => (isLeaving ? undefined : refresh()),
  });
}

/** Loads the invitations that the account can accept. */
export const useInvitations = () => useQuery({ queryKey: INVITATIONS, queryFn: ({ signal }) => api.listInvitations({}, { signal }) });

/** Accepts or declines an invitation. */
export function useDecideInvitation() {
  const queries = useQueryClient();
  const refreshWebsites = useRefresh();
  return useMutation<unknown, Error, { id: string; accept: boolean }>({
    mutationFn: ({ id, accept }) => (accept ? api.acceptInvitation({ id }) : api.declineInvitation({ id })),
    onSettled: () => queries.invalidateQueries({ queryKey: INVITATIONS }),
    onSuccess: refreshWebsites,
  });
}
