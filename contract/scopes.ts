import type { Endpoints } from './endpoints.ts';

/** OAuth scopes of the service's own resources, `PUBLIC_URL/mcp` and `PUBLIC_URL/api` (RFC 8707), and of API keys. */
export const RESOURCE_SCOPES = ['websites:read', 'websites:write', 'stats:read'] as const;

export type ResourceScope = (typeof RESOURCE_SCOPES)[number];

/** Scopes about the person who signs in (OpenID Connect Core §5.4 and §11). */
export const IDENTITY_SCOPES = ['openid', 'email', 'profile', 'offline_access'] as const;

export type IdentityScope = (typeof IDENTITY_SCOPES)[number];

type AccountCall = { [Name in keyof Endpoints]: Endpoints[Name]['access'] extends 'account' ? Name : never }[keyof Endpoints];

/** What an API key or access token needs for each call of access `account`. Not part of the endpoints, which browsers load. */
export const CALL_SCOPES: Readonly<Record<AccountCall, ResourceScope>> = {
  settings: 'websites:read',
  auditLogs: 'stats:read',
  listWebsites: 'websites:read',
  createWebsite: 'websites:write',
  updateWebsite: 'websites:write',
  deleteWebsite: 'websites:write',
  claimWebsite: 'websites:write',
  proveWebsite: 'websites:write',
  beginUpload: 'websites:write',
  websiteEvents: 'stats:read',
  websiteStats: 'stats:read',
  listClients: 'websites:read',
  createClient: 'websites:write',
  updateClient: 'websites:write',
  deleteClient: 'websites:write',
  clientLogs: 'stats:read',
  overview: 'stats:read',
};
