import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Input, Output } from '../../../contract/routes.ts';
import { call } from '../../lib/call.ts';

export type Application = Output<'listClients'>[number];
export type ApiKey = Output<'listApiKeys'>[number];
export type NewApiKey = Output<'createApiKey'>;
export type GraceHours = NonNullable<Input<'rotateApiKey'>['graceHours']>;

const APPLICATIONS = ['applications'];
const API_KEYS = ['api-keys'];

export const useApplications = () =>
  useQuery({ queryKey: APPLICATIONS, queryFn: ({ signal }) => call<'listClients'>('GET', '/api/clients', {}, signal) });

export type ApplicationInput = Pick<Application, 'name' | 'redirectUris' | 'isActive'>;

/** Adds an application, or changes the given one. */
export function useSaveApplication(application: Application | null) {
  const onSuccess = useRefresh(APPLICATIONS);
  return useMutation({
    mutationFn: ({ isActive, ...input }: ApplicationInput) =>
      application
        ? call<'updateClient'>('PUT', '/api/clients/{id}', { id: application.id, isActive, ...input })
        : call<'createClient'>('POST', '/api/clients', input),
    onSuccess,
  });
}

export function useDeleteApplication() {
  const onSuccess = useRefresh(APPLICATIONS);
  return useMutation({ mutationFn: (id: string) => call<'deleteClient'>('DELETE', '/api/clients/{id}', { id }), onSuccess });
}

/** Asked anew at each opening. */
export const useApplicationLogs = (id: string) =>
  useQuery({
    queryKey: [...APPLICATIONS, id, 'logs'],
    queryFn: ({ signal }) => call<'clientLogs'>('GET', '/api/clients/{id}/logs', { id }, signal),
    staleTime: 0,
  });

export const useApiKeys = () =>
  useQuery({ queryKey: API_KEYS, queryFn: ({ signal }) => call<'listApiKeys'>('GET', '/api/api-keys', {}, signal), staleTime: 0 });

export function useMakeApiKey() {
  const onSuccess = useRefresh(API_KEYS);
  return useMutation({ mutationFn: (input: Input<'createApiKey'>) => call<'createApiKey'>('POST', '/api/api-keys', input), onSuccess });
}

export function useRotateApiKey(id: string) {
  const onSuccess = useRefresh(API_KEYS);
  return useMutation({
    mutationFn: (graceHours: GraceHours) => call<'rotateApiKey'>('POST', '/api/api-keys/{id}/rotate', { id, graceHours }),
    onSuccess,
  });
}

export function useRevokeApiKey() {
  const onSuccess = useRefresh(API_KEYS);
  return useMutation({ mutationFn: (id: string) => call<'revokeApiKey'>('DELETE', '/api/api-keys/{id}', { id }), onSuccess });
}

/** Asked anew at each opening. */
export const useApiKeyUsage = (id: string) =>
  useQuery({
    queryKey: [...API_KEYS, id, 'usage'],
    queryFn: ({ signal }) => call<'apiKeyUsage'>('GET', '/api/api-keys/{id}/usage', { id }, signal),
    staleTime: 0,
  });

function useRefresh(queryKey: string[]) {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey, exact: true });
}
