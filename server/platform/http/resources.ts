import { RESOURCE_SCOPES, type ResourceScope } from '../../../contract/scopes.ts';

/** The resources of this service: the MCP server at PUBLIC_URL/mcp, and the API at PUBLIC_URL/api. */
export type Resource = 'mcp' | 'api';

/** The scopes in the challenge to a client without a token, which are also those of a client that requests none. */
export const FIRST_SCOPES: readonly ResourceScope[] = ['websites:read', 'stats:read'];

/** Returns the identifier of a resource, which is the audience of its access tokens (RFC 8707 §2). */
export const resourceUri = (publicUrl: string, resource: Resource): string => `${publicUrl}/${resource}`;

/** Returns the path of the metadata of a resource (RFC 9728 §3). */
export const metadataPath = (resource: Resource) => `/.well-known/oauth-protected-resource/${resource}`;

/** Why a request is not served: without `error`, it had no credentials (RFC 6750 §3.1). */
export type Challenge = {
  error?: 'invalid_token' | 'insufficient_scope';
  description?: string;
  /** The scopes that the request needs. */
  scopes?: readonly string[];
};

/**
 * Returns the challenge for a client whose request is rejected, or null when no other token would help.
 * @param scopes that it is to request besides those that the error names
 */
export function challengeFor(error: { code: string; message: string; scope?: string }, scopes: readonly string[] = []): Challenge | null {
  const { code, message: description, scope } = error;
  const wanted = [...scopes, ...(scope?.split(' ') ?? [])];
  if (code === 'sign_in_needed') return { scopes: wanted };
  if (code === 'bad_api_key' || code === 'bad_access_token') return { error: 'invalid_token', description, scopes: wanted };
  if (code === 'insufficient_scope') return { error: code, description, scopes: wanted };
  return null;
}

/** Returns the value of WWW-Authenticate (RFC 6750 §3, RFC 9728 §5.1). */
export function wwwAuthenticate(publicUrl: string, resource: Resource, { error, description, scopes = [] }: Challenge): string {
  const wanted = error === 'insufficient_scope' ? scopes : [...FIRST_SCOPES, ...scopes];
  const parameters = {
    realm: 'emailauth',
    error,
    error_description: description?.replace(/["\\]/g, "'"),
    scope: RESOURCE_SCOPES.filter((scope) => wanted.includes(scope)).join(' '),
    resource_metadata: publicUrl + metadataPath(resource),
  };
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
