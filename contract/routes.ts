import { z } from 'zod';
import * as account from './account.ts';
import * as applications from './applications.ts';
import { type Endpoint, type EndpointName, endpoints } from './endpoints.ts';
import { anyEntered } from './entered.ts';
import * as events from './events.ts';
import * as passkeys from './passkeys.ts';
import { CALL_SCOPES, type ResourceScope } from './scopes.ts';
import * as service from './service.ts';
import * as signin from './signin.ts';
import * as websites from './websites.ts';

/** One call with its schemas: `input` combines the path parameters with the query (GET, DELETE) or the JSON body. */
export type Route = Endpoint & {
  /** What an API key or access token needs for the call. */
  scope?: ResourceScope;
  summary: string;
  input: z.ZodType;
  output: z.ZodType;
};

const nothing = z.object({});

const call = <In extends z.ZodType, Out extends z.ZodType>(summary: string, input: In, output: Out) => ({ summary, input, output });

/** What each call does, takes and returns. */
const calls = {
  domainAuth: call('Email a sign-in link to a visitor of a website', signin.DomainAuthRequest, signin.SentResponse),
  attempt: call("Status of this browser's latest sign-in email", signin.AttemptQuery, signin.AttemptResponse),
  confirmLink: call('Use a link in a browser other than the one that requested it', signin.ConfirmLinkRequest, signin.ConfirmLinkResponse),
  confirmBrowser: call(
    'Prove with a link of the last hour that the mailbox is yours, without signing in: limits that others used up then do not apply to this browser',
    signin.ConfirmLinkRequest,
    signin.Done,
  ),
  emailCode: call(`Sign in with the ${anyEntered('adjective')} code of the email`, signin.CodeRequest, signin.CodeResponse),
  verifyToken: call('Verify a token and get its email address; a token can be verified once', signin.VerifyRequest, signin.VerifyResponse),
  verifyTokenByPost: call('The same with the token in a JSON body', signin.VerifyRequest, signin.VerifyResponse),

  authorize: call('Begin a PKCE sign-in by email', signin.AuthorizeRequest, signin.AuthorizeResponse),
  token: call('Exchange a code and its verifier for a session', signin.TokenRequest, signin.TokenResponse),
  validateKey: call('Sign in with a remembered account', signin.ValidateKeyRequest, signin.ValidateKeyResponse),
  passkeyChallenge: call('A new challenge for a passkey, for a page that was open for long', nothing, passkeys.PasskeyChallenge),
  passkeySignIn: call('Sign in with a passkey', passkeys.PasskeySignInRequest, passkeys.PasskeySignInResponse),
  registerPasskey: call(
    'Add a passkey, with the options of a sign-in by email or of passkeyOptions in the same browser',
    passkeys.PasskeyRegistration,
    passkeys.PasskeyRegistered,
  ),
  verifiedEmailSignIn: call(
    'Sign in with a token of the Email Verification Protocol (experimental), in the browser that opened the sign-in page',
    signin.VerifiedEmailRequest,
    signin.VerifiedEmailResponse,
  ),
  tokenLogin: call("Open a session with the portal's own token", signin.TokenLoginRequest, signin.TokenLoginResponse),
  session: call('The account that is signed in in this browser; null when none is', nothing, account.Session),
  logout: call("End the session and forget this device's key", nothing, signin.Done),

  decideInteraction: call(
    'Grant or refuse what an application requests; only in the browser in which its authorization request waits',
    signin.InteractionDecision,
    signin.RedirectResponse,
  ),

  me: call('The account that is signed in', nothing, account.User),
  settings: call('Profile, organisation and branding', nothing, account.Settings),
  saveProfile: call('Change the name', account.Profile, account.Settings),
  saveOrganisation: call('Change the organisation', account.Organization, account.Settings),
  saveBranding: call('Change the branding of the emails of my proven websites', account.Branding, account.Settings),
  listDevices: call('Devices on which the account is signed in', nothing, z.array(account.Device)),
  signOutDevice: call('Sign a device out', account.DeviceParams, signin.Done),
  signOutEverywhere: call(
    'Sign out on every device, including this one, and end API keys and passkeys',
    account.SignOutEverywhere,
    account.SignedOutEverywhere,
  ),
  listPasskeys: call('The passkeys of the account', nothing, passkeys.PasskeyList),
  passkeyOptions: call(
    'Options to add a passkey, in a browser that proved the address within the last 10 minutes',
    nothing,
    passkeys.PasskeyOptions,
  ),
  renamePasskey: call('Rename a passkey', passkeys.PasskeyParams.extend({ name: passkeys.PasskeyName }), passkeys.Passkey),
  removePasskey: call('Remove a passkey', passkeys.PasskeyParams, passkeys.PasskeyList),
  listConnections: call('Applications and websites that I signed in to by OpenID Connect', nothing, account.ConnectionList),
  revokeConnection: call('Disconnect an application: its tokens become invalid', account.ConnectionParams, signin.Done),
  auditLogs: call('Audit log of the account, newest first', account.AuditQuery, z.array(account.AuditEntry)),
  waitlist: call('Waitlists that the account has joined', nothing, account.Waitlist),
  joinWaitlist: call('Join a waitlist', account.WaitlistEntry, account.Waitlist),

  languages: call('The languages of the sign-in pages', nothing, z.array(signin.Language)),
  translations: call('The texts of the sign-in pages', signin.LanguageParams, signin.Translations),

  searchDocs: call('Search the documentation', service.DocsSearch, service.FoundSections),

  registerWebsite: call('Register a domain with its linked address', websites.RegisterRequest, websites.RegisterResponse),
  findWebsite: call('The registered website of a host', websites.DomainParams, websites.PublicWebsite),
  listWebsites: call('My websites', nothing, websites.WebsiteList),
  searchWebsites: call(
    'One page of my websites, searched and sorted, with their sign-ins in the last 30 days',
    websites.WebsiteSearch,
    websites.FoundWebsites,
  ),
  readWebsite: call('One of my websites', websites.DomainParams, websites.Website),
  createWebsite: call('Add a website', websites.WebsiteInput, websites.Website),
  updateWebsite: call('Change a website', websites.WebsiteUpdate, websites.Website),
  deleteWebsite: call('Delete a website', websites.WebsiteParams, signin.Done),
  giveBackWebsite: call('Give a website back that someone else registered with my address', websites.WebsiteParams, signin.Done),
  claimWebsite: call('How to prove that a domain is mine', websites.DomainParams, websites.Claim),
  proveWebsite: call('Check the proof; a proven claim transfers the domain to the account', websites.DomainInput, websites.Website),
  listMembers: call('The team of a website', websites.WebsiteParams, websites.MemberList),
  inviteMember: call('Invite an address to manage a website, by email; again renews the invitation', websites.Invite, websites.Member),
  changeMember: call('Change the role of a member', websites.MemberUpdate, websites.Member),
  removeMember: call('Remove a member, withdraw an invitation, or leave with your own address', websites.MemberParams, signin.Done),
  listInvitations: call('Invitations to manage websites of others', nothing, websites.InvitationList),
  acceptInvitation: call('Accept an invitation', websites.WebsiteParams, websites.Website),
  declineInvitation: call('Decline an invitation', websites.WebsiteParams, signin.Done),
  websiteBranding: call('The name, color, logo and sender name of a website', websites.WebsiteParams, websites.WebsiteBranding),
  saveWebsiteBranding: call(
    'Change the branding of a website; a new logo URL is loaded before it is saved',
    websites.WebsiteBrandingInput,
    websites.WebsiteBranding,
  ),
  listVisitors: call('Addresses that signed in to a website', websites.VisitorsQuery, websites.Visitors),
  exportVisitors: call(
    'All visitors of a website, or one of them; for its owners',
    websites.VisitorsExportRequest,
    websites.VisitorsExport,
  ),
  eraseVisitor: call(
    'Erase an address from a website: its entry, pending sign-ins, tokens and OpenID Connect grants; the log then shows `erased`',
    websites.VisitorErasure,
    signin.Done,
  ),
  beginUpload: call('Get a URL to PUT an icon to', nothing, websites.UploadResponse),
  websiteEvents: call(
    'What happened in the sign-ins at my websites, each step with an explanation; can wait for the next one',
    events.EventsQuery,
    events.WebsiteEvents,
  ),
  websiteStats: call('Sign-ins to my websites in the last 30 days, at most a minute late', nothing, websites.WebsiteStatsList),
  websiteLog: call('What happened in the sign-ins at one of my websites, newest first, with filters', events.LogQuery, events.WebsiteLog),
  websiteHistory: call(
    'Sign-ins to one of my websites in the last days, in sum and per day, at most a minute late',
    websites.WebsiteHistoryQuery,
    websites.WebsiteHistory,
  ),

  listClients: call('My applications (OAuth clients)', nothing, applications.ClientList),
  createClient: call('Add an application', applications.ClientInput, applications.ChangedClient),
  updateClient: call('Change an application', applications.ClientUpdate, applications.ChangedClient),
  deleteClient: call('Delete an application and invalidate its tokens', applications.ClientParams, signin.Done),
  clientLogs: call('Audit log of an application, newest first', applications.ClientParams, applications.ClientLogs),
  clientRefusals: call(
    'Requests of an application that were rejected, newest first, each with what to change',
    applications.ClientParams,
    applications.ClientRefusals,
  ),
  rotateClientSecret: call(
    'Create a new client secret; the former one remains valid for a time',
    applications.RotateSecretRequest,
    applications.ChangedClient,
  ),
  listApiKeys: call('My API keys', nothing, applications.ApiKeyList),
  createApiKey: call('Create an API key; it is shown only once', applications.ApiKeyInput, applications.NewApiKey),
  rotateApiKey: call('Replace an API key; the old one stays valid for some hours', applications.RotateRequest, applications.NewApiKey),
  revokeApiKey: call('Revoke an API key immediately', applications.ApiKeyParams, signin.Done),
  apiKeyUsage: call('Calls with an API key per day', applications.ApiKeyParams, applications.ApiKeyUsage),
  overview: call('Statistics of the last 30 days for the overview, at most a minute late', nothing, account.Overview),
  accountLogins: call(
    'Sign-ins per day, compared with the period before, at most a minute late',
    account.AccountLoginsQuery,
    account.AccountLogins,
  ),

  about: call('What a program needs to know about this service', nothing, service.About),
  status: call('Status of the service, as measured by itself', nothing, service.Status),

  adminSession: call('Whether this browser has an admin session', nothing, service.AdminSession),
  adminVerify: call('Open an admin session with the admin password', service.AdminPassword, signin.Done),
  adminLogout: call('Close the admin session', nothing, signin.Done),
  eraseAddress: call(
    'Erase an address from all tables, or count the rows that contain it; the audit log keeps its rows without the address',
    service.AddressErasure,
    service.ErasedAddress,
  ),
  dailyLogins: call('Sign-ins per day of the last 30 UTC days, newest first, at most a minute late', nothing, service.DailyLogins),
  enableAdmin: call('Open the admin area', service.EnableAdminSession, signin.Done),
  adminWebsites: call('All websites', service.PageQuery, service.AdminWebsites),
  adminUsers: call('All users', service.PageQuery, service.AdminUsers),
  adminMails: call('Emails still to send', service.PageQuery, service.AdminMails),
  retryMail: call('Send a pending email immediately', service.MailParams, signin.Done),
  adminAuditLog: call('The whole audit log', service.AuditPageQuery, service.AdminAuditLog),
} satisfies Record<EndpointName, ReturnType<typeof call>>;

export type RouteName = EndpointName;
export type Routes = { [Name in RouteName]: (typeof endpoints)[Name] & (typeof calls)[Name] & { scope?: ResourceScope } };

/** The API. The server's routing, the types of the client and /openapi.json derive from this table. */
export const routes = Object.fromEntries(
  Object.entries(calls).map(([name, each]) => {
    const scope = (CALL_SCOPES as Record<string, ResourceScope>)[name];
    return [name, { ...endpoints[name as RouteName], scope, ...each }];
  }),
) as Routes;

/** The input of a call, before parsing. */
export type Input<Name extends RouteName> = z.input<Routes[Name]['input']>;
/** The input of a call, after parsing. */
export type Parsed<Name extends RouteName> = z.output<Routes[Name]['input']>;
/** The result of a call. */
export type Output<Name extends RouteName> = z.output<Routes[Name]['output']>;
