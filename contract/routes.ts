import { z } from 'zod';
import { User } from './account.ts';
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
import {
  Claim,
  DomainInput,
  DomainParams,
  PublicWebsite,
  RegisterAnswer,
  RegisterRequest,
  Website,
  WebsiteList,
  WebsiteParams,
  WebsiteUpdate,
} from './websites.ts';

/**
 * Who may make a call. `anyone`: the pages of this service and programs, never a page of another origin.
 * `any-origin`: also pages elsewhere, but without cookies. `account`: somebody signed in.
 */
export type Access = 'anyone' | 'any-origin' | 'account';

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
};

const nothing = z.object({});

/** THE API. The server's routing, the typed client and /openapi.json all derive from this table. */
export const routes = {
  domainAuth: {
    method: 'POST',
    path: '/api/auth/domain-auth',
    access: 'anyone',
    summary: 'Mail a sign-in link to a visitor of a site',
    input: DomainAuthRequest,
    output: SentAnswer,
  },
  attempt: {
    method: 'GET',
    path: '/api/auth/attempt',
    access: 'anyone',
    summary: "What became of this browser's newest sign-in mail",
    input: AttemptQuery,
    output: AttemptAnswer,
  },
  confirmLink: {
    method: 'POST',
    path: '/api/auth/confirm-link',
    access: 'anyone',
    summary: 'Use a link in a browser that did not ask for it',
    input: ConfirmLinkRequest,
    output: RedirectAnswer,
  },
  emailCode: {
    method: 'POST',
    path: '/api/auth/email-code',
    access: 'anyone',
    summary: 'Sign in with the six-digit code of the mail',
    input: CodeRequest,
    output: CodeAnswer,
  },
  verifyToken: {
    method: 'GET',
    path: '/api/verify-token',
    access: 'any-origin',
    summary: 'Ask once whom a token is for; this uses it up',
    input: VerifyRequest,
    output: VerifyAnswer,
  },
  verifyTokenByPost: {
    method: 'POST',
    path: '/api/verify-token',
    access: 'any-origin',
    summary: 'The same, with the token in a JSON body',
    input: VerifyRequest,
    output: VerifyAnswer,
  },

  authorize: {
    method: 'POST',
    path: '/api/auth/authorize',
    access: 'anyone',
    summary: 'Begin a PKCE sign-in of a developer by mail',
    input: AuthorizeRequest,
    output: AuthorizeAnswer,
    oauth: true,
  },
  token: {
    method: 'POST',
    path: '/api/auth/token',
    access: 'anyone',
    summary: 'Exchange a code and its verifier for a session',
    input: TokenRequest,
    output: TokenAnswer,
    oauth: true,
  },
  validateKey: {
    method: 'POST',
    path: '/api/auth/validate-key',
    access: 'anyone',
    summary: 'Sign in with an account that this browser remembers',
    input: ValidateKeyRequest,
    output: ValidateKeyAnswer,
  },
  tokenLogin: {
    method: 'POST',
    path: '/api/auth/token-login',
    access: 'anyone',
    summary: "Open a session with the portal's own token",
    input: TokenLoginRequest,
    output: TokenLoginAnswer,
  },
  logout: {
    method: 'POST',
    path: '/api/auth/logout',
    access: 'anyone',
    summary: "End the session and forget this device's key",
    input: nothing,
    output: Done,
  },
  me: { method: 'GET', path: '/api/user/me', access: 'account', summary: 'Who is signed in', input: nothing, output: User },

  languages: {
    method: 'GET',
    path: '/api/languages',
    access: 'anyone',
    summary: 'The languages of the sign-in pages',
    input: nothing,
    output: z.array(Language),
  },
  translations: {
    method: 'GET',
    path: '/api/translations/{language}/auth',
    access: 'anyone',
    summary: 'The texts of the sign-in pages',
    input: LanguageParams,
    output: Translations,
  },

  registerWebsite: {
    method: 'POST',
    path: '/api/websites/register',
    access: 'anyone',
    summary: 'Register a domain with its linked address',
    input: RegisterRequest,
    output: RegisterAnswer,
  },
  findWebsite: {
    method: 'GET',
    path: '/api/websites/domain/{domain}',
    access: 'anyone',
    summary: 'The registered site of a host',
    input: DomainParams,
    output: PublicWebsite,
  },
  listWebsites: { method: 'GET', path: '/api/websites', access: 'account', summary: 'My websites', input: nothing, output: WebsiteList },
  createWebsite: {
    method: 'POST',
    path: '/api/websites',
    access: 'account',
    summary: 'Add a website',
    input: DomainInput,
    output: Website,
  },
  updateWebsite: {
    method: 'PUT',
    path: '/api/websites/{id}',
    access: 'account',
    summary: 'Change a website',
    input: WebsiteUpdate,
    output: Website,
  },
  deleteWebsite: {
    method: 'DELETE',
    path: '/api/websites/{id}',
    access: 'account',
    summary: 'Delete a website',
    input: WebsiteParams,
    output: Done,
  },
  claimWebsite: {
    method: 'GET',
    path: '/api/websites/claim/{domain}',
    access: 'account',
    summary: 'How to prove that a domain is mine',
    input: DomainParams,
    output: Claim,
  },
  proveWebsite: {
    method: 'POST',
    path: '/api/websites/prove',
    access: 'account',
    summary: 'Check the proof; a proven claim takes an unproven one over',
    input: DomainInput,
    output: Website,
  },
} as const satisfies Record<string, Route>;

export type Routes = typeof routes;
export type RouteName = keyof Routes;
/** What a caller gives. */
export type Input<Name extends RouteName> = z.input<Routes[Name]['input']>;
/** What the service works with, after parsing. */
export type Parsed<Name extends RouteName> = z.output<Routes[Name]['input']>;
export type Output<Name extends RouteName> = z.output<Routes[Name]['output']>;
