import type { Endpoints } from './endpoints.ts';
import type { ResourceScope } from './scopes.ts';

type AccountCall = { [Name in keyof Endpoints]: Endpoints[Name]['access'] extends 'account' ? Name : never }[keyof Endpoints];

/** What an API key or access token needs for each call of access `account`. Not part of the endpoints, which browsers load. */
export const CALL_SCOPES: Readonly<Record<AccountCall, ResourceScope>> = {
  settings: 'websites:read',
  auditLogs: 'stats:read',
  listWebsites: 'websites:read',
  readWebsite: 'websites:read',
  createWebsite: 'websites:write',
  updateWebsite: 'websites:write',
  deleteWebsite: 'websites:write',
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
  verifyTestToken: 'websites:write',
  websiteLog: 'stats:read',
  websiteHistory: 'stats:read',
  listClients: 'websites:read',
  createClient: 'websites:write',
  updateClient: 'websites:write',
  deleteClient: 'websites:write',
  rotateClientSecret: 'websites:write',
  testClient: 'websites:read',
  clientLogs: 'stats:read',
  clientRefusals: 'stats:read',
  overview: 'stats:read',
  accountLogins: 'stats:read',
};
