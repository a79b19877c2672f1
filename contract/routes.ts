import { z } from 'zod';
import { About } from './about.ts';
import {
  AuditEntry,
  AuditQuery,
  Branding,
  Device,
  DeviceParams,
  Organisation,
  Profile,
  Settings,
  User,
  Waitlist,
  WaitlistEntry,
} from './account.ts';
import {
  AdminAuditLog,
  AdminMails,
  AdminPassword,
  AdminSession,
  AdminUsers,
  AdminWebsites,
  AuditPageQuery,
  EnableAdminSession,
  MailParams,
  PageQuery,
} from './admin.ts';
import {
  ApiKeyInput,
  ApiKeyList,
  ApiKeyParams,
  ApiKeyUsage,
  Client,
  ClientInput,
  ClientList,
  ClientLogs,
  ClientParams,
  ClientUpdate,
  NewApiKey,
  RotateRequest,
} from './applications.ts';
import { DailyLogins, Overview, SiteFiguresList } from './figures.ts';
import { Language, LanguageParams, Translations } from './languages.ts';
import {
  AttemptAnswer,
  AttemptQuery,
  AuthorizeAnswer,
  AuthorizeRequest,
  CodeAnswer,
  CodeRequest,
  ConfirmLinkRequest,
  DomainAuthRequest,
  Done,
  RedirectAnswer,
  SentAnswer,
  TokenAnswer,
  TokenLoginAnswer,
  TokenLoginRequest,
  TokenRequest,
  ValidateKeyAnswer,
  ValidateKeyRequest,
  VerifyAnswer,
  VerifyRequest,
} from './signin.ts';
import { Status } from './status.ts';
import {
  Claim,
  DomainInput,
  DomainParams,
  PublicWebsite,
  RegisterAnswer,
  RegisterRequest,
  UploadAnswer,
  Website,
  WebsiteInput,
  WebsiteList,
  WebsiteParams,
  WebsiteUpdate,
} from './websites.ts';

/**
 * Who may make a call. `anyone`: the pages of this service and programs, never a page of another origin.
 * `any-origin`: also pages elsewhere, but without cookies. `identity`: whoever is signed in, also by an application's token.
 * `account`: somebody signed in, or a program with an API key of theirs. `person`: somebody signed in, no API key.
 * `admin`: who opened the admin pages with their password.
 */
export type Access = 'anyone' | 'any-origin' | 'identity' | 'account' | 'person' | 'admin';

/** One call: path parameters stand in braces, and `input` takes them together with the query (GET, DELETE) or the JSON body. */
export type Route = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: `/api/${string}`;
  access: Access;
  summary: string;
  input: z.ZodType;
  output: z.ZodType;
  /** Form encoding is accepted and errors carry RFC 6749's names. */
  oauth?: true;
  /** Exists in local mode alone. */
  development?: true;
};

const nothing = z.object({});
const oauth = { oauth: true } as const;
const development = { development: true } as const;

const get = routeOf('GET');
const post = routeOf('POST');
const put = routeOf('PUT');
const remove = routeOf('DELETE');

/** THE API. The server's routing, the typed client and /openapi.json all derive from this table. */
export const routes = {
  domainAuth: post('/api/auth/domain-auth', 'anyone', 'Mail a sign-in link to a visitor of a site', DomainAuthRequest, SentAnswer),
  attempt: get('/api/auth/attempt', 'anyone', "What became of this browser's newest sign-in mail", AttemptQuery, AttemptAnswer),
  confirmLink: post(
    '/api/auth/confirm-link',
    'anyone',
    'Use a link in a browser that did not ask for it',
    ConfirmLinkRequest,
    RedirectAnswer,
  ),
  confirmBrowser: post(
    '/api/auth/confirm-browser',
    'anyone',
    'Show by a link of the last hour that the mailbox is mine, without signing in: limits that others used up then pass this browser',
    ConfirmLinkRequest,
    Done,
  ),
  emailCode: post('/api/auth/email-code', 'anyone', 'Sign in with the six-digit code of the mail', CodeRequest, CodeAnswer),
  verifyToken: get('/api/verify-token', 'any-origin', 'Ask once whom a token is for; this uses it up', VerifyRequest, VerifyAnswer),
  verifyTokenByPost: post('/api/verify-token', 'any-origin', 'The same, with the token in a JSON body', VerifyRequest, VerifyAnswer),

  authorize: post('/api/auth/authorize', 'anyone', 'Begin a PKCE sign-in by mail', AuthorizeRequest, AuthorizeAnswer, oauth),
  token: post('/api/auth/token', 'anyone', 'Exchange a code and its verifier for a session', TokenRequest, TokenAnswer, oauth),
  validateKey: post('/api/auth/validate-key', 'anyone', 'Sign in with a remembered account', ValidateKeyRequest, ValidateKeyAnswer),
  tokenLogin: post('/api/auth/token-login', 'anyone', "Open a session with the portal's own token", TokenLoginRequest, TokenLoginAnswer),
  logout: post('/api/auth/logout', 'anyone', "End the session and forget this device's key", nothing, Done),

  me: get('/api/user/me', 'identity', 'Who is signed in', nothing, User),
  settings: get('/api/user/settings', 'account', 'Profile, organisation and branding', nothing, Settings),
  saveProfile: put('/api/user/profile', 'person', 'Change the name', Profile, Settings),
  saveOrganisation: put('/api/user/organisation', 'person', 'Change the organisation', Organisation, Settings),
  saveBranding: put('/api/user/branding', 'person', 'Change how the mails of my proven websites look', Branding, Settings),
  listDevices: get('/api/user/devices', 'person', 'Where the account is signed in', nothing, z.array(Device)),
  signOutDevice: remove('/api/user/devices/{id}', 'person', 'Sign a device out', DeviceParams, Done),
  signOutEverywhere: post('/api/user/sign-out-everywhere', 'person', 'Sign out on every device, this one too', nothing, Done),
  auditLogs: get('/api/audit-logs', 'account', 'What the account did, newest first', AuditQuery, z.array(AuditEntry)),
  waitlist: get('/api/waitlist', 'person', 'Which waitlists the account is on', nothing, Waitlist),
  joinWaitlist: post('/api/waitlist', 'person', 'Join a waitlist, once', WaitlistEntry, Waitlist),

  languages: get('/api/languages', 'anyone', 'The languages of the sign-in pages', nothing, z.array(Language)),
  translations: get('/api/translations/{language}/auth', 'anyone', 'The texts of the sign-in pages', LanguageParams, Translations),

  registerWebsite: post('/api/websites/register', 'anyone', 'Register a domain with its linked address', RegisterRequest, RegisterAnswer),
  findWebsite: get('/api/websites/domain/{domain}', 'anyone', 'The registered site of a host', DomainParams, PublicWebsite),
  listWebsites: get('/api/websites', 'account', 'My websites', nothing, WebsiteList),
  createWebsite: post('/api/websites', 'account', 'Add a website', WebsiteInput, Website),
  updateWebsite: put('/api/websites/{id}', 'account', 'Change a website', WebsiteUpdate, Website),
  deleteWebsite: remove('/api/websites/{id}', 'account', 'Delete a website', WebsiteParams, Done),
  claimWebsite: get('/api/websites/claim/{domain}', 'account', 'How to prove that a domain is mine', DomainParams, Claim),
  proveWebsite: post('/api/websites/prove', 'account', 'Check the proof; a proven claim takes a domain over', DomainInput, Website),
  beginUpload: post('/api/objects/upload', 'account', 'Where to PUT an icon', nothing, UploadAnswer),
  websiteFigures: get('/api/websites/figures', 'account', "My websites' sign-ins of 30 days", nothing, SiteFiguresList),

  listClients: get('/api/clients', 'account', 'My applications (OAuth clients)', nothing, ClientList),
  createClient: post('/api/clients', 'account', 'Add an application', ClientInput, Client),
  updateClient: put('/api/clients/{id}', 'account', 'Change an application', ClientUpdate, Client),
  deleteClient: remove('/api/clients/{id}', 'account', 'Delete an application and end its sign-ins', ClientParams, Done),
  clientLogs: get('/api/clients/{id}/logs', 'account', 'What happened at an application, newest first', ClientParams, ClientLogs),
  listApiKeys: get('/api/api-keys', 'person', 'My API keys', nothing, ApiKeyList),
  createApiKey: post('/api/api-keys', 'person', 'Make an API key, shown this once', ApiKeyInput, NewApiKey),
  rotateApiKey: post('/api/api-keys/{id}/rotate', 'person', 'Replace an API key, which works on for some hours', RotateRequest, NewApiKey),
  revokeApiKey: remove('/api/api-keys/{id}', 'person', 'End an API key at once', ApiKeyParams, Done),
  apiKeyUsage: get('/api/api-keys/{id}/usage', 'person', 'Calls with an API key, day by day', ApiKeyParams, ApiKeyUsage),
  overview: get('/api/overview', 'account', "The overview's figures of 30 days", nothing, Overview),

  about: get('/api/about', 'anyone', 'What a program must know of this service', nothing, About),
  status: get('/api/status', 'anyone', 'What the service has measured of itself', nothing, Status),

  adminSession: get('/api/admin/session', 'anyone', 'Whether the admin pages are open to this browser', nothing, AdminSession),
  adminVerify: post('/api/admin/verify', 'anyone', 'Open the admin pages with their password', AdminPassword, Done),
  adminLogout: post('/api/admin/logout', 'anyone', 'Lock the admin pages', nothing, Done),
  dailyLogins: get('/api/admin/daily-login-stats', 'admin', 'Sign-ins of 30 UTC days, newest first', nothing, DailyLogins),
  enableAdmin: post('/api/dev/admin-session', 'person', 'Open the admin area', EnableAdminSession, Done, development),
  adminWebsites: get('/api/dev/websites', 'admin', 'All websites', PageQuery, AdminWebsites, development),
  adminUsers: get('/api/dev/users', 'admin', 'All users', PageQuery, AdminUsers, development),
  adminMails: get('/api/dev/mails', 'admin', 'Mails that are owed', PageQuery, AdminMails, development),
  retryMail: post('/api/dev/mails/{id}/retry', 'admin', 'Send an owed mail at once', MailParams, Done, development),
  adminAuditLog: get('/api/dev/audit-logs', 'admin', 'The whole audit trail', AuditPageQuery, AdminAuditLog, development),
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type RouteName = keyof Routes;
/** What a caller gives. */
export type Input<Name extends RouteName> = z.input<Routes[Name]['input']>;
/** What the service works with, after parsing. */
export type Parsed<Name extends RouteName> = z.output<Routes[Name]['input']>;
export type Output<Name extends RouteName> = z.output<Routes[Name]['output']>;

/** Makes the routes of one method: path, access, summary, input, output. */
function routeOf<Method extends Route['method']>(method: Method) {
  return <Path extends Route['path'], A extends Access, In extends z.ZodType, Out extends z.ZodType, More extends Partial<Route> = object>(
    path: Path,
    access: A,
    summary: string,
    input: In,
    output: Out,
    more?: More,
  ) => ({ method, path, access, summary, input, output, ...(more as More) });
}
