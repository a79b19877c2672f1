import type { Endpoints } from './endpoints.ts';

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

type AccountCall = { [Name in keyof Endpoints]: Endpoints[Name]['access'] extends 'account' ? Name : never }[keyof Endpoints];

/** What an API key or access token needs for each call of access `account`. Not part of endpoints.ts, which browsers load as a whole. */
export const CALL_SCOPES: Readonly<Record<AccountCall, ResourceScope>> = {
  settings: 'websites:read',
  auditLogs: 'stats:read',
  listWebsites: 'websites:read',
  readWebsite: 'websites:read',
  createWebsite: 'websites:write',
  updateWebsite: 'websites:write',
  deleteWebsite: 'websites:write',
  giveBackWebsite: 'websites:write',
  claimWebsite: 'websites:write',
  proveWebsite: 'websites:write',
  websiteBranding: 'websites:read',
  saveWebsiteBranding: 'websites:write',
  listVisitors: 'stats:read',
  exportVisitors: 'stats:read',
  eraseVisitor: 'websites:write',
  listMembers: 'websites:read',
  beginUpload: 'websites:write',
  websiteEvents: 'stats:read',
  websiteStats: 'stats:read',
  websiteLog: 'stats:read',
  websiteHistory: 'stats:read',
  listClients: 'websites:read',
  createClient: 'websites:write',
  updateClient: 'websites:write',
  deleteClient: 'websites:write',
  rotateClientSecret: 'websites:write',
  clientLogs: 'stats:read',
  clientRefusals: 'stats:read',
  overview: 'stats:read',
  accountLogins: 'stats:read',
};
