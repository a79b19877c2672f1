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
import { type Endpoint, type EndpointName, endpoints } from './endpoints.ts';
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
import { DailyLogins, Overview, WebsiteStatsList } from './stats.ts';
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

/** One call with its shapes: `input` takes the path parameters together with the query (GET, DELETE) or the JSON body. */
export type Route = Endpoint & { summary: string; input: z.ZodType; output: z.ZodType };

const nothing = z.object({});

const route = <Name extends EndpointName, In extends z.ZodType, Out extends z.ZodType>(
  name: Name,
  summary: string,
  input: In,
  output: Out,
) => ({
  ...endpoints[name],
  summary,
  input,
  output,
});

/** The API. The server's routing, the types of the client and /openapi.json all derive from this table. */
export const routes = {
  domainAuth: route('domainAuth', 'Mail a sign-in link to a visitor of a site', DomainAuthRequest, SentAnswer),
  attempt: route('attempt', "What became of this browser's newest sign-in mail", AttemptQuery, AttemptAnswer),
  confirmLink: route('confirmLink', 'Use a link in a browser that did not ask for it', ConfirmLinkRequest, RedirectAnswer),
  confirmBrowser: route(
    'confirmBrowser',
    'Show by a link of the last hour that the mailbox is mine, without signing in: limits that others used up then pass this browser',
    ConfirmLinkRequest,
    Done,
  ),
  emailCode: route('emailCode', 'Sign in with the six-digit code of the mail', CodeRequest, CodeAnswer),
  verifyToken: route('verifyToken', 'Ask once whom a token is for; this uses it up', VerifyRequest, VerifyAnswer),
  verifyTokenByPost: route('verifyTokenByPost', 'The same, with the token in a JSON body', VerifyRequest, VerifyAnswer),

  authorize: route('authorize', 'Begin a PKCE sign-in by mail', AuthorizeRequest, AuthorizeAnswer),
  token: route('token', 'Exchange a code and its verifier for a session', TokenRequest, TokenAnswer),
  validateKey: route('validateKey', 'Sign in with a remembered account', ValidateKeyRequest, ValidateKeyAnswer),
  tokenLogin: route('tokenLogin', "Open a session with the portal's own token", TokenLoginRequest, TokenLoginAnswer),
  logout: route('logout', "End the session and forget this device's key", nothing, Done),

  me: route('me', 'Who is signed in', nothing, User),
  settings: route('settings', 'Profile, organisation and branding', nothing, Settings),
  saveProfile: route('saveProfile', 'Change the name', Profile, Settings),
  saveOrganisation: route('saveOrganisation', 'Change the organisation', Organisation, Settings),
  saveBranding: route('saveBranding', 'Change how the mails of my proven websites look', Branding, Settings),
  listDevices: route('listDevices', 'Where the account is signed in', nothing, z.array(Device)),
  signOutDevice: route('signOutDevice', 'Sign a device out', DeviceParams, Done),
  signOutEverywhere: route('signOutEverywhere', 'Sign out on every device, this one too', nothing, Done),
  auditLogs: route('auditLogs', 'What the account did, newest first', AuditQuery, z.array(AuditEntry)),
  waitlist: route('waitlist', 'Which waitlists the account is on', nothing, Waitlist),
  joinWaitlist: route('joinWaitlist', 'Join a waitlist, once', WaitlistEntry, Waitlist),

  languages: route('languages', 'The languages of the sign-in pages', nothing, z.array(Language)),
  translations: route('translations', 'The texts of the sign-in pages', LanguageParams, Translations),

  registerWebsite: route('registerWebsite', 'Register a domain with its linked address', RegisterRequest, RegisterAnswer),
  findWebsite: route('findWebsite', 'The registered site of a host', DomainParams, PublicWebsite),
  listWebsites: route('listWebsites', 'My websites', nothing, WebsiteList),
  createWebsite: route('createWebsite', 'Add a website', WebsiteInput, Website),
  updateWebsite: route('updateWebsite', 'Change a website', WebsiteUpdate, Website),
  deleteWebsite: route('deleteWebsite', 'Delete a website', WebsiteParams, Done),
  claimWebsite: route('claimWebsite', 'How to prove that a domain is mine', DomainParams, Claim),
  proveWebsite: route('proveWebsite', 'Check the proof; a proven claim takes a domain over', DomainInput, Website),
  beginUpload: route('beginUpload', 'Where to PUT an icon', nothing, UploadAnswer),
  websiteStats: route('websiteStats', "My websites' sign-ins of 30 days", nothing, WebsiteStatsList),

  listClients: route('listClients', 'My applications (OAuth clients)', nothing, ClientList),
  createClient: route('createClient', 'Add an application', ClientInput, Client),
  updateClient: route('updateClient', 'Change an application', ClientUpdate, Client),
  deleteClient: route('deleteClient', 'Delete an application and end its sign-ins', ClientParams, Done),
  clientLogs: route('clientLogs', 'What happened at an application, newest first', ClientParams, ClientLogs),
  listApiKeys: route('listApiKeys', 'My API keys', nothing, ApiKeyList),
  createApiKey: route('createApiKey', 'Make an API key, shown this once', ApiKeyInput, NewApiKey),
  rotateApiKey: route('rotateApiKey', 'Replace an API key, which works on for some hours', RotateRequest, NewApiKey),
  revokeApiKey: route('revokeApiKey', 'End an API key at once', ApiKeyParams, Done),
  apiKeyUsage: route('apiKeyUsage', 'Calls with an API key, day by day', ApiKeyParams, ApiKeyUsage),
  overview: route('overview', "The overview's figures of 30 days", nothing, Overview),

  about: route('about', 'What a program must know of this service', nothing, About),
  status: route('status', 'What the service has measured of itself', nothing, Status),

  adminSession: route('adminSession', 'Whether the admin pages are open to this browser', nothing, AdminSession),
  adminVerify: route('adminVerify', 'Open the admin pages with their password', AdminPassword, Done),
  adminLogout: route('adminLogout', 'Lock the admin pages', nothing, Done),
  dailyLogins: route('dailyLogins', 'Sign-ins of 30 UTC days, newest first', nothing, DailyLogins),
  enableAdmin: route('enableAdmin', 'Open the admin area', EnableAdminSession, Done),
  adminWebsites: route('adminWebsites', 'All websites', PageQuery, AdminWebsites),
  adminUsers: route('adminUsers', 'All users', PageQuery, AdminUsers),
  adminMails: route('adminMails', 'Mails that are owed', PageQuery, AdminMails),
  retryMail: route('retryMail', 'Send an owed mail at once', MailParams, Done),
  adminAuditLog: route('adminAuditLog', 'The whole audit trail', AuditPageQuery, AdminAuditLog),
} as const satisfies Record<EndpointName, Route>;

export type Routes = typeof routes;
export type RouteName = EndpointName;
/** What a caller gives. */
export type Input<Name extends RouteName> = z.input<Routes[Name]['input']>;
/** What the service works with, after parsing. */
export type Parsed<Name extends RouteName> = z.output<Routes[Name]['input']>;
export type Output<Name extends RouteName> = z.output<Routes[Name]['output']>;
