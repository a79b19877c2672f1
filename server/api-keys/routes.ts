import { type Served, serve } from '../http/serve.ts';
import type { ApiKeys } from './api-keys.ts';

export function apiKeyRoutes(apiKeys: ApiKeys): Served[] {
  return [
    serve('listApiKeys', (_, { account }) => apiKeys.list(account)),
    serve('createApiKey', (input, { account }) => apiKeys.create(account, input)),
    serve('rotateApiKey', (input, { account }) => apiKeys.rotate(account, input)),
    serve('revokeApiKey', ({ id }, { account }) => apiKeys.revoke(account, id)),
    serve('apiKeyUsage', ({ id }, { account }) => apiKeys.usage(account, id)),
  ];
}
