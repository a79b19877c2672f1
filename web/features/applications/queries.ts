import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input, Output } from '../../../contract/routes.ts';
import { api } from '../../lib/api.ts';

export type Application = Output<'listClients'>[number];
export type LogEntry = Output<'clientLogs'>[number] | Output<'clientRefusals'>[number];
export type ApplicationInput = Omit<Input<'updateClient'>, 'id'>;
export type SecretGraceHours = NonNullable<Input<'rotateClientSecret'>['graceHours']>;
export type ApiKey = Output<'listApiKeys'>[number];
export type NewApiKey = Output<'createApiKey'>;
export type GraceHours = NonNullable<Input<'rotateApiKey'>['graceHours']>;

const APPLICATIONS = ['applications'];
const API_KEYS = ['api-keys'];

/** Loads the applications of the account. */
export const useApplications = () => useQuery({ queryKey: APPLICATIONS, queryFn: ({ signal }) => api.listClients({}, { signal }) });

/** Adds an application or changes the given one. The result has its client secret when this created one. */
export function useSaveApplication(application: Application | null) {
  const onSuccess = useRefresh(APPLICATIONS);
  return useMutation({
    mutationFn: ({ isActive, ...input }: ApplicationInput) =>
      application ? api.updateClient({ id: application.id, isActive, ...input }) : api.createClient(input),
    onSuccess,
  });
}

/** Replaces the client secret. The result has the new one. */
export function useRotateSecret(id: string) {
  const onSuccess = useRefresh(APPLICATIONS);
  return useMutation({
    mutationFn: (graceHours: SecretGraceHours) => api.rotateClientSecret({ id, graceHours }),
    onSuccess,
  });
}

/** Deletes an application. */
export function useDeleteApplication() {
  const onSuccess = useRefresh(APPLICATIONS);
  return useMutation({ mutationFn: (id: string) => api.deleteClient({ id }), onSuccess });
}

/** The log and the rejected requests, newest first. Fetched each time its dialog is opened. */
export const useApplicationLogs = (id: string) =>
  useQuery({
    queryKey: [...APPLICATIONS, id, 'logs'],
    queryFn: async ({ signal }): Promise<LogEntry[]> => {
      const [entries, refusals] = await Promise.all([api.clientLogs({ id }, { signal }), api.clientRefusals({ id }, { signal })]);
      return [...entries, ...refusals].sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt));
    },
    staleTime: 0,
  });

/** Loads the API keys of the account, again at each mount. */
export const useApiKeys = () => useQuery({ queryKey: API_KEYS, queryFn: ({ signal }) => api.listApiKeys({}, { signal }), staleTime: 0 });

/** Creates an API key. Only the result has it in plain text. */
export function useCreateApiKey() {
  const onSuccess = useRefresh(API_KEYS);
  return useMutation({ mutationFn: (input: Input<'createApiKey'>) => api.createApiKey(input), onSuccess });
}

/** Replaces an API key. Only the result has the new one in plain text. */
export function useRotateApiKey(id: string) {
  const onSuccess = useRefresh(API_KEYS);
  return useMutation({
    mutationFn: (graceHours: GraceHours) => api.rotateApiKey({ id, graceHours }),
    onSuccess,
  });
}

/** Revokes an API key. */
export function useRevokeApiKey() {
  const onSuccess = useRefresh(API_KEYS);
  return useMutation({ mutationFn: (id: string) => api.revokeApiKey({ id }), onSuccess });
}

/** Fetched each time its dialog is opened. */
export const useApiKeyUsage = (id: string) =>
  useQuery({
    queryKey: [...API_KEYS, id, 'usage'],
    queryFn: ({ signal }) => api.apiKeyUsage({ id }, { signal }),
    staleTime: 0,
  });

function useRefresh(queryKey: string[]) {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey, exact: true });
}
