/**
 * Who may make a call. `anyone`: pages of this service and programs, but no page of another origin. `any-origin`: pages of other
 * origins too, without cookies. `identity`: a signed-in developer, or any of their tokens. `account`: a signed-in developer, or a program
 * with one of their API keys or access tokens that has the scope of the call. `person`: a signed-in developer, no such program.
 * `admin`: a browser with an admin session.
 */
export type Access = 'anyone' | 'any-origin' | 'identity' | 'account' | 'person' | 'admin';

/** One call of the API. Path parameters are in braces. */
export type Endpoint = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/api/${string}` | `/oauth/${string}`;
  access: Access;
  /** An OAuth call: accepts form encoding and names its errors as RFC 6749 does. */
  oauth?: true;
  /** The call exists in local mode only. */
  development?: true;
};

/** Method, path and access of every call of the API. Contains no schemas, to keep browser bundles small. */
export const endpoints = {
  domainAuth: { method: 'POST', path: '/api/auth/domain-auth', access: 'anyone' },
  attempt: { method: 'GET', path: '/api/auth/attempt', access: 'anyone' },
  confirmLink: { method: 'POST', path: '/api/auth/confirm-link', access: 'anyone' },
  confirmBrowser: { method: 'POST', path: '/api/auth/confirm-browser', access: 'anyone' },
  emailCode: { method: 'POST', path: '/api/auth/email-code', access: 'anyone' },
  verifyToken: { method: 'GET', path: '/api/verify-token', access: 'any-origin' },
  verifyTokenByPost: { method: 'POST', path: '/api/verify-token', access: 'any-origin' },

  authorize: { method: 'POST', path: '/api/auth/authorize', access: 'anyone', oauth: true },
  token: { method: 'POST', path: '/api/auth/token', access: 'anyone', oauth: true },
  validateKey: { method: 'POST', path: '/api/auth/validate-key', access: 'anyone' },
  passkeyChallenge: { method: 'POST', path: '/api/auth/passkey/challenge', access: 'anyone' },
  passkeySignIn: { method: 'POST', path: '/api/auth/passkey', access: 'anyone' },
  registerPasskey: { method: 'POST', path: '/api/auth/passkey/registration', access: 'anyone' },
  verifiedEmailSignIn: { method: 'POST', path: '/api/auth/verified-email', access: 'anyone' },
  tokenLogin: { method: 'POST', path: '/api/auth/token-login', access: 'anyone' },
  session: { method: 'GET', path: '/api/auth/session', access: 'anyone' },
  logout: { method: 'POST', path: '/api/auth/logout', access: 'anyone' },

  decideInteraction: { method: 'POST', path: '/oauth/interaction/{uid}/decision', access: 'anyone' },

  me: { method: 'GET', path: '/api/user/me', access: 'identity' },
  settings: { method: 'GET', path: '/api/user/settings', access: 'account' },
  saveProfile: { method: 'PUT', path: '/api/user/profile', access: 'person' },
  saveOrganisation: { method: 'PUT', path: '/api/user/organisation', access: 'person' },
  saveBranding: { method: 'PUT', path: '/api/user/branding', access: 'person' },
  listDevices: { method: 'GET', path: '/api/user/devices', access: 'person' },
  signOutDevice: { method: 'DELETE', path: '/api/user/devices/{id}', access: 'person' },
  signOutEverywhere: { method: 'POST', path: '/api/user/sign-out-everywhere', access: 'person' },
  listPasskeys: { method: 'GET', path: '/api/user/passkeys', access: 'person' },
  passkeyOptions: { method: 'POST', path: '/api/user/passkeys/options', access: 'person' },
  renamePasskey: { method: 'PUT', path: '/api/user/passkeys/{id}', access: 'person' },
  removePasskey: { method: 'DELETE', path: '/api/user/passkeys/{id}', access: 'person' },
  listConnections: { method: 'GET', path: '/api/user/connections', access: 'person' },
  revokeConnection: { method: 'DELETE', path: '/api/user/connections/{id}', access: 'person' },
  auditLogs: { method: 'GET', path: '/api/audit-logs', access: 'account' },
  waitlist: { method: 'GET', path: '/api/waitlist', access: 'person' },
  joinWaitlist: { method: 'POST', path: '/api/waitlist', access: 'person' },

  languages: { method: 'GET', path: '/api/languages', access: 'anyone' },
  translations: { method: 'GET', path: '/api/translations/{language}/auth', access: 'anyone' },

  searchDocs: { method: 'GET', path: '/api/docs/search', access: 'anyone' },

  registerWebsite: { method: 'POST', path: '/api/websites/register', access: 'anyone' },
  findWebsite: { method: 'GET', path: '/api/websites/domain/{domain}', access: 'anyone' },
  listWebsites: { method: 'GET', path: '/api/websites', access: 'account' },
  searchWebsites: { method: 'GET', path: '/api/websites/search', access: 'person' },
  readWebsite: { method: 'GET', path: '/api/websites/mine/{domain}', access: 'account' },
  createWebsite: { method: 'POST', path: '/api/websites', access: 'account' },
  updateWebsite: { method: 'PUT', path: '/api/websites/{id}', access: 'account' },
  deleteWebsite: { method: 'DELETE', path: '/api/websites/{id}', access: 'account' },
  giveBackWebsite: { method: 'POST', path: '/api/websites/{id}/give-back', access: 'account' },
  claimWebsite: { method: 'GET', path: '/api/websites/claim/{domain}', access: 'account' },
  proveWebsite: { method: 'POST', path: '/api/websites/prove', access: 'account' },
  websiteBranding: { method: 'GET', path: '/api/websites/{id}/branding', access: 'account' },
  saveWebsiteBranding: { method: 'PUT', path: '/api/websites/{id}/branding', access: 'account' },
  listVisitors: { method: 'GET', path: '/api/websites/{id}/visitors', access: 'account' },
  exportVisitors: { method: 'POST', path: '/api/websites/{id}/visitors/export', access: 'account' },
  eraseVisitor: { method: 'POST', path: '/api/websites/{id}/visitors/erase', access: 'account' },
  listMembers: { method: 'GET', path: '/api/websites/{id}/members', access: 'account' },
  inviteMember: { method: 'POST', path: '/api/websites/{id}/members', access: 'person' },
  changeMember: { method: 'PUT', path: '/api/websites/{id}/members/{email}', access: 'person' },
  removeMember: { method: 'DELETE', path: '/api/websites/{id}/members/{email}', access: 'person' },
  listInvitations: { method: 'GET', path: '/api/invitations', access: 'person' },
  acceptInvitation: { method: 'POST', path: '/api/invitations/{id}/accept', access: 'person' },
  declineInvitation: { method: 'DELETE', path: '/api/invitations/{id}', access: 'person' },
  beginUpload: { method: 'POST', path: '/api/objects/upload', access: 'account' },
  websiteEvents: { method: 'GET', path: '/api/websites/events', access: 'account' },
  websiteStats: { method: 'GET', path: '/api/websites/figures', access: 'account' },
  websiteLog: { method: 'GET', path: '/api/websites/{id}/log', access: 'account' },
  websiteHistory: { method: 'GET', path: '/api/websites/{id}/stats', access: 'account' },

  listClients: { method: 'GET', path: '/api/clients', access: 'account' },
  createClient: { method: 'POST', path: '/api/clients', access: 'account' },
  updateClient: { method: 'PUT', path: '/api/clients/{id}', access: 'account' },
  deleteClient: { method: 'DELETE', path: '/api/clients/{id}', access: 'account' },
  clientLogs: { method: 'GET', path: '/api/clients/{id}/logs', access: 'account' },
  clientRefusals: { method: 'GET', path: '/api/clients/{id}/refusals', access: 'account' },
  rotateClientSecret: { method: 'POST', path: '/api/clients/{id}/secret', access: 'account' },
  listApiKeys: { method: 'GET', path: '/api/api-keys', access: 'person' },
  createApiKey: { method: 'POST', path: '/api/api-keys', access: 'person' },
  rotateApiKey: { method: 'POST', path: '/api/api-keys/{id}/rotate', access: 'person' },
  revokeApiKey: { method: 'DELETE', path: '/api/api-keys/{id}', access: 'person' },
  apiKeyUsage: { method: 'GET', path: '/api/api-keys/{id}/usage', access: 'person' },
  overview: { method: 'GET', path: '/api/overview', access: 'account' },
  accountLogins: { method: 'GET', path: '/api/overview/logins', access: 'account' },

  about: { method: 'GET', path: '/api/about', access: 'anyone' },
  status: { method: 'GET', path: '/api/status', access: 'anyone' },

  adminSession: { method: 'GET', path: '/api/admin/session', access: 'anyone' },
  adminVerify: { method: 'POST', path: '/api/admin/verify', access: 'anyone' },
  adminLogout: { method: 'POST', path: '/api/admin/logout', access: 'anyone' },
  eraseAddress: { method: 'POST', path: '/api/admin/erase', access: 'admin' },
  dailyLogins: { method: 'GET', path: '/api/admin/daily-login-stats', access: 'admin' },
  enableAdmin: { method: 'POST', path: '/api/dev/admin-session', access: 'person', development: true },
  adminWebsites: { method: 'GET', path: '/api/dev/websites', access: 'admin', development: true },
  adminUsers: { method: 'GET', path: '/api/dev/users', access: 'admin', development: true },
  adminMails: { method: 'GET', path: '/api/dev/mails', access: 'admin', development: true },
  retryMail: { method: 'POST', path: '/api/dev/mails/{id}/retry', access: 'admin', development: true },
  adminAuditLog: { method: 'GET', path: '/api/dev/audit-logs', access: 'admin', development: true },
} as const satisfies Record<string, Endpoint>;

export type Endpoints = typeof endpoints;
export type EndpointName = keyof Endpoints;
