import type { ApiError, Client } from '../contract/client.ts';
import type { CheckWebsite } from '../diagnostics/website-checks.ts';

/** What the tools, resources and prompts work with; independent of the transport and of the process. */
export type McpContext = {
  /** The API as the caller, who may be anonymous. */
  client: Client;
  /** Origin of the service. */
  host: string;
  version: string;
  /** Leaves out every tool that changes something. */
  readOnly: boolean;
  /** Signs the session in; null where each request carries its own credentials. */
  signIn: SignIn | null;
  /** Whether the server runs on the developer's machine, as on stdio, so that its localhost is that of the app. */
  besideApp: boolean;
  /** What to do about a call that needs a sign-in, as a sentence for a model. */
  howToSignIn: string;
  /** Checks a website of the caller from outside; a service only one whose domain is proved. */
  checkWebsite: CheckWebsite;
  /** Returns the OpenAPI description of the service's API. @throws ApiError */
  openApi(): Promise<object>;
  /** Receives an error that another sign-in of the caller would avoid: `sign_in_needed` or `insufficient_scope`. */
  onDenied?(error: ApiError): void;
  /** Logs an internal error for the operator. @returns its reference number */
  report(error: unknown): string;
};

/** A sign-in with the code of an email, which the person tells the assistant. */
export type SignIn = {
  /** Emails a code. @param email the person's address. @returns expiresAt in ISO 8601. @throws ApiError */
  start(email: string): Promise<{ loginId: string; expiresAt: string }>;
  /** Signs in with the code. @param code six digits. @throws ApiError, also for an unknown login */
  complete(loginId: string, code: string): Promise<{ email: string }>;
};
