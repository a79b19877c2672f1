import { z } from 'zod';
import {
  AccountLogins,
  AccountLoginsQuery,
  AuditEntry,
  AuditQuery,
  Branding,
  ConnectionList,
  ConnectionParams,
  Device,
  DeviceParams,
  Organization,
  Overview,
  Profile,
  Session,
  Settings,
  SignedOutEverywhere,
  SignOutEverywhere,
  User,
  Waitlist,
  WaitlistEntry,
} from './account.ts';
import * as applications from './applications.ts';
import { type Endpoint, type EndpointName, endpoints } from './endpoints.ts';
import { EventsQuery, LogQuery, WebsiteEvents, WebsiteLog } from './events.ts';
import * as passkeys from './passkeys.ts';
import { CALL_SCOPES, type ResourceScope } from './scopes.ts';
import * as service from './service.ts';
import {
  AttemptQuery,
  AttemptResponse,
  AuthorizeRequest,
  AuthorizeResponse,
  CodeRequest,
  CodeResponse,
  ConfirmLinkRequest,
  ConfirmLinkResponse,
  DomainAuthRequest,
  Done,
  InteractionDecision,
  Language,
  LanguageParams,
  RedirectResponse,
  SentResponse,
  TokenLoginRequest,
  TokenLoginResponse,
  TokenRequest,
  TokenResponse,
  Translations,
  ValidateKeyRequest,
  ValidateKeyResponse,
  VerifiedEmailRequest,
  VerifiedEmailResponse,
  VerifyRequest,
  VerifyResponse,
} from './signin.ts';
import {
  Claim,
  DomainInput,
  DomainParams,
  FoundWebsites,
  InvitationList,
  Invite,
  Member,
  MemberList,
  MemberParams,
  MemberUpdate,
  PublicWebsite,
  RegisterRequest,
  RegisterResponse,
  UploadResponse,
  VisitorErasure,
  Visitors,
  VisitorsExport,
  VisitorsExportRequest,
  VisitorsQuery,
  Website,
  WebsiteBranding,
  WebsiteBrandingInput,
  WebsiteHistory,
  WebsiteHistoryQuery,
  WebsiteInput,
  WebsiteList,
  WebsiteParams,
  WebsiteSearch,
  WebsiteStatsList,
  WebsiteUpdate,
} from './websites.ts';

/** One call with its schemas: `input` combines the path parameters with the query (GET, DELETE) or the JSON body. */
export type Route = Endpoint & {
  /** What an API key or access token needs for the call. */
  scope?: ResourceScope;
  summary: string;
  input: z.ZodType;
  output: z.ZodType;
};

const nothing = z.object({});

const route = <Name extends EndpointName, In extends z.ZodType, Out extends z.ZodType>(
  name: Name,
  summary: string,
  input: In,
  output: Out,
) => ({
  ...endpoints[name],
  scope: (CALL_SCOPES as Partial<Record<EndpointName, ResourceScope>>)[name],
  summary,
  input,
  output,
});

/** The API. The server's routing, the types of the client and /openapi.json derive from this table. */
export const routes = {
  domainAuth: route('domainAuth', 'Email a sign-in link to a visitor of a website', DomainAuthRequest, SentResponse),
  attempt: route('attempt', "Status of this browser's latest sign-in email", AttemptQuery, AttemptResponse),
  confirmLink: route(
    'confirmLink',
    'Use a link in a browser other than the one that requested it',
    ConfirmLinkRequest,
    ConfirmLinkResponse,
  ),
  confirmBrowser: route(
    'confirmBrowser',
    'Prove with a link of the last hour that the mailbox is yours, without signing in: limits that others used up then do not apply to this browser',
    ConfirmLinkRequest,
    Done,
  ),
  emailCode: route('emailCode', 'Sign in with the six-digit code of the email', CodeRequest, CodeResponse),
  verifyToken: route(
    'verifyToken',
    'Verify a token and get its email address; a token can be verified once',
    VerifyRequest,
    VerifyResponse,
  ),
  verifyTokenByPost: route('verifyTokenByPost', 'The same with the token in a JSON body', VerifyRequest, VerifyResponse),

  authorize: route('authorize', 'Begin a PKCE sign-in by email', AuthorizeRequest, AuthorizeResponse),
  token: route('token', 'Exchange a code and its verifier for a session', TokenRequest, TokenResponse),
  validateKey: route('validateKey', 'Sign in with a remembered account', ValidateKeyRequest, ValidateKeyResponse),
  passkeyChallenge: route(
    'passkeyChallenge',
    'A new challenge for a passkey, for a page that was open for long',
    nothing,
    passkeys.PasskeyChallenge,
  ),
  passkeySignIn: route('passkeySignIn', 'Sign in with a passkey', passkeys.PasskeySignInRequest, passkeys.PasskeySignInResponse),
  registerPasskey: route(
    'registerPasskey',
    'Add a passkey, with the options of a sign-in by email or of passkeyOptions in the same browser',
    passkeys.PasskeyRegistration,
    passkeys.PasskeyRegistered,
  ),
  verifiedEmailSignIn: route(
    'verifiedEmailSignIn',
    'Sign in with a token of the Email Verification Protocol (experimental), in the browser that opened the sign-in page',
    VerifiedEmailRequest,
    VerifiedEmailResponse,
  ),
  tokenLogin: route('tokenLogin', "Open a session with the portal's own token", TokenLoginRequest, TokenLoginResponse),
  session: route('session', 'The account that is signed in in this browser; null when none is', nothing, Session),
  logout: route('logout', "End the session and forget this device's key", nothing, Done),

  decideInteraction: route(
    'decideInteraction',
    'Grant or refuse what an application requests; only in the browser in which its authorization request waits',
    InteractionDecision,
    RedirectResponse,
  ),

  me: route('me', 'The account that is signed in', nothing, User),
  settings: route('settings', 'Profile, organisation and branding', nothing, Settings),
  saveProfile: route('saveProfile', 'Change the name', Profile, Settings),
  saveOrganisation: route('saveOrganisation', 'Change the organisation', Organization, Settings),
  saveBranding: route('saveBranding', 'Change the branding of the emails of my proven websites', Branding, Settings),
  listDevices: route('listDevices', 'Devices on which the account is signed in', nothing, z.array(Device)),
  signOutDevice: route('signOutDevice', 'Sign a device out', DeviceParams, Done),
  signOutEverywhere: route(
    'signOutEverywhere',
    'Sign out on every device, including this one, and end API keys and passkeys',
    SignOutEverywhere,
    SignedOutEverywhere,
  ),
  listPasskeys: route('listPasskeys', 'The passkeys of the account', nothing, passkeys.PasskeyList),
  passkeyOptions: route(
    'passkeyOptions',
    'Options to add a passkey, in a browser that proved the address within the last 10 minutes',
    nothing,
    passkeys.PasskeyOptions,
  ),
  renamePasskey: route(
    'renamePasskey',
    'Rename a passkey',
    passkeys.PasskeyParams.extend({ name: passkeys.PasskeyName }),
    passkeys.Passkey,
  ),
  removePasskey: route('removePasskey', 'Remove a passkey', passkeys.PasskeyParams, passkeys.PasskeyList),
  listConnections: route('listConnections', 'Applications and websites that I signed in to by OpenID Connect', nothing, ConnectionList),
  revokeConnection: route('revokeConnection', 'Disconnect an application: its tokens become invalid', ConnectionParams, Done),
  auditLogs: route('auditLogs', 'Audit log of the account, newest first', AuditQuery, z.array(AuditEntry)),
  waitlist: route('waitlist', 'Waitlists that the account has joined', nothing, Waitlist),
  joinWaitlist: route('joinWaitlist', 'Join a waitlist', WaitlistEntry, Waitlist),

  languages: route('languages', 'The languages of the sign-in pages', nothing, z.array(Language)),
  translations: route('translations', 'The texts of the sign-in pages', LanguageParams, Translations),

  searchDocs: route('searchDocs', 'Search the documentation', service.DocsSearch, service.FoundSections),

  registerWebsite: route('registerWebsite', 'Register a domain with its linked address', RegisterRequest, RegisterResponse),
  findWebsite: route('findWebsite', 'The registered website of a host', DomainParams, PublicWebsite),
  listWebsites: route('listWebsites', 'My websites', nothing, WebsiteList),
  searchWebsites: route(
    'searchWebsites',
    'One page of my websites, searched and sorted, with their sign-ins in the last 30 days',
    WebsiteSearch,
    FoundWebsites,
  ),
  readWebsite: route('readWebsite', 'One of my websites', DomainParams, Website),
  createWebsite: route('createWebsite', 'Add a website', WebsiteInput, Website),
  updateWebsite: route('updateWebsite', 'Change a website', WebsiteUpdate, Website),
  deleteWebsite: route('deleteWebsite', 'Delete a website', WebsiteParams, Done),
  giveBackWebsite: route('giveBackWebsite', 'Give a website back that someone else registered with my address', WebsiteParams, Done),
  claimWebsite: route('claimWebsite', 'How to prove that a domain is mine', DomainParams, Claim),
  proveWebsite: route('proveWebsite', 'Check the proof; a proven claim transfers the domain to the account', DomainInput, Website),
  listMembers: route('listMembers', 'The team of a website', WebsiteParams, MemberList),
  inviteMember: route('inviteMember', 'Invite an address to manage a website, by email; again renews the invitation', Invite, Member),
  changeMember: route('changeMember', 'Change the role of a member', MemberUpdate, Member),
  removeMember: route('removeMember', 'Remove a member, withdraw an invitation, or leave with your own address', MemberParams, Done),
  listInvitations: route('listInvitations', 'Invitations to manage websites of others', nothing, InvitationList),
  acceptInvitation: route('acceptInvitation', 'Accept an invitation', WebsiteParams, Website),
  declineInvitation: route('declineInvitation', 'Decline an invitation', WebsiteParams, Done),
  websiteBranding: route('websiteBranding', 'The name, color, logo and sender name of a website', WebsiteParams, WebsiteBranding),
  saveWebsiteBranding: route(
    'saveWebsiteBranding',
    'Change the branding of a website; a new logo URL is loaded before it is saved',
    WebsiteBrandingInput,
    WebsiteBranding,
  ),
  listVisitors: route('listVisitors', 'Addresses that signed in to a website', VisitorsQuery, Visitors),
  exportVisitors: route(
    'exportVisitors',
    'All visitors of a website, or one of them; for its owners',
    VisitorsExportRequest,
    VisitorsExport,
  ),
  eraseVisitor: route(
    'eraseVisitor',
    'Erase an address from a website: its entry, pending sign-ins, tokens and OpenID Connect grants; the log then shows `erased`',
    VisitorErasure,
    Done,
  ),
  beginUpload: route('beginUpload', 'Get a URL to PUT an icon to', nothing, UploadResponse),
  websiteEvents: route(
    'websiteEvents',
    'What happened in the sign-ins at my websites, each step with an explanation; can wait for the next one',
    EventsQuery,
    WebsiteEvents,
  ),
  websiteStats: route('websiteStats', 'Sign-ins to my websites in the last 30 days, at most a minute late', nothing, WebsiteStatsList),
  websiteLog: route('websiteLog', 'What happened in the sign-ins at one of my websites, newest first, with filters', LogQuery, WebsiteLog),
  websiteHistory: route(
    'websiteHistory',
    'Sign-ins to one of my websites in the last days, in sum and per day, at most a minute late',
    WebsiteHistoryQuery,
    WebsiteHistory,
  ),

  listClients: route('listClients', 'My applications (OAuth clients)', nothing, applications.ClientList),
  createClient: route('createClient', 'Add an application', applications.ClientInput, applications.ChangedClient),
  updateClient: route('updateClient', 'Change an application', applications.ClientUpdate, applications.ChangedClient),
  deleteClient: route('deleteClient', 'Delete an application and invalidate its tokens', applications.ClientParams, Done),
  clientLogs: route('clientLogs', 'Audit log of an application, newest first', applications.ClientParams, applications.ClientLogs),
  clientRefusals: route(
    'clientRefusals',
    'Requests of an application that were rejected, newest first, each with what to change',
    applications.ClientParams,
    applications.ClientRefusals,
  ),
  rotateClientSecret: route(
    'rotateClientSecret',
    'Create a new client secret; the former one remains valid for a time',
    applications.RotateSecretRequest,
    applications.ChangedClient,
  ),
  listApiKeys: route('listApiKeys', 'My API keys', nothing, applications.ApiKeyList),
  createApiKey: route('createApiKey', 'Create an API key; it is shown only once', applications.ApiKeyInput, applications.NewApiKey),
  rotateApiKey: route(
    'rotateApiKey',
    'Replace an API key; the old one stays valid for some hours',
    applications.RotateRequest,
    applications.NewApiKey,
  ),
  revokeApiKey: route('revokeApiKey', 'Revoke an API key immediately', applications.ApiKeyParams, Done),
  apiKeyUsage: route('apiKeyUsage', 'Calls with an API key per day', applications.ApiKeyParams, applications.ApiKeyUsage),
  overview: route('overview', 'Statistics of the last 30 days for the overview, at most a minute late', nothing, Overview),
  accountLogins: route(
    'accountLogins',
    'Sign-ins per day, compared with the period before, at most a minute late',
    AccountLoginsQuery,
    AccountLogins,
  ),

  about: route('about', 'What a program needs to know about this service', nothing, service.About),
  status: route('status', 'Status of the service, as measured by itself', nothing, service.Status),

  adminSession: route('adminSession', 'Whether this browser has an admin session', nothing, service.AdminSession),
  adminVerify: route('adminVerify', 'Open an admin session with the admin password', service.AdminPassword, Done),
  adminLogout: route('adminLogout', 'Close the admin session', nothing, Done),
  eraseAddress: route(
    'eraseAddress',
    'Erase an address from all tables, or count the rows that contain it; the audit log keeps its rows without the address',
    service.AddressErasure,
    service.ErasedAddress,
  ),
  dailyLogins: route(
    'dailyLogins',
    'Sign-ins per day of the last 30 UTC days, newest first, at most a minute late',
    nothing,
    service.DailyLogins,
  ),
  enableAdmin: route('enableAdmin', 'Open the admin area', service.EnableAdminSession, Done),
  adminWebsites: route('adminWebsites', 'All websites', service.PageQuery, service.AdminWebsites),
  adminUsers: route('adminUsers', 'All users', service.PageQuery, service.AdminUsers),
  adminMails: route('adminMails', 'Emails still to send', service.PageQuery, service.AdminMails),
  retryMail: route('retryMail', 'Send a pending email immediately', service.MailParams, Done),
  adminAuditLog: route('adminAuditLog', 'The whole audit log', service.AuditPageQuery, service.AdminAuditLog),
} as const satisfies Record<EndpointName, Route>;

export type Routes = typeof routes;
export type RouteName = EndpointName;
/** The input of a call, before parsing. */
export type Input<Name extends RouteName> = z.input<Routes[Name]['input']>;
/** The input of a call, after parsing. */
export type Parsed<Name extends RouteName> = z.output<Routes[Name]['input']>;
/** The result of a call. */
export type Output<Name extends RouteName> = z.output<Routes[Name]['output']>;
