import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input, Output } from '../../../contract/routes.ts';
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

/** Deletes a website. */
export function useDeleteWebsite() {
  const refresh = useRefresh();
  return useMutation({ mutationFn: (id: string) => api.deleteWebsite({ id }), onSuccess: refresh });
}

/** Gives a website back that someone else registered with the account's address. */
export function useGiveBack() {
  const refresh = useRefresh();
  return useMutation({ mutationFn: (id: string) => api.giveBackWebsite({ id }), onSuccess: refresh });
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

/** Changes the role of a member. */
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
