/** OAuth scopes of the service's own resources, `PUBLIC_URL/mcp` and `PUBLIC_URL/api` (RFC 8707), and of API keys. */
export const RESOURCE_SCOPES = ['websites:read', 'websites:write', 'stats:read'] as const;

export type ResourceScope = (typeof RESOURCE_SCOPES)[number];

/** Scopes about the person who signs in (OpenID Connect Core §5.4 and §11). */
export const IDENTITY_SCOPES = ['openid', 'email', 'profile', 'offline_access'] as const;

export type IdentityScope = (typeof IDENTITY_SCOPES)[number];

/** The scopes that an application may be allowed to request. */
export const APPLICATION_SCOPES = [...IDENTITY_SCOPES, ...RESOURCE_SCOPES] as const;

/** What each scope permits, in English, as the rest of a sentence that begins with "It may". */
export const SCOPE_DESCRIPTIONS: Readonly<Record<IdentityScope | ResourceScope, string>> = {
  openid: 'recognize you when you sign in again',
  email: 'see your email address',
  profile: 'see your name',
  offline_access: 'stay connected while you are away',
  'websites:read': 'see your websites and applications',
  'websites:write': 'add, change and delete your websites and applications',
  'stats:read': 'see the statistics and events of your websites',
};

/** Returns what a scope permits, as a sentence of its own: `See your email address`. */
export const scopeText = (scope: keyof typeof SCOPE_DESCRIPTIONS) =>
  SCOPE_DESCRIPTIONS[scope].replace(/^./, (first) => first.toUpperCase());
