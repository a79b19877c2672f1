/** OAuth scopes of the service's own resources, `PUBLIC_URL/mcp` and `PUBLIC_URL/api` (RFC 8707), and of API keys. */
export const RESOURCE_SCOPES = ['websites:read', 'websites:write', 'stats:read'] as const;

export type ResourceScope = (typeof RESOURCE_SCOPES)[number];

/** Scopes about the person who signs in (OpenID Connect Core §5.4 and §11). */
export const IDENTITY_SCOPES = ['openid', 'email', 'profile', 'offline_access'] as const;

export type IdentityScope = (typeof IDENTITY_SCOPES)[number];
