import type { Client } from '../contract/client.ts';

/** What the tools, resources and prompts work with: nothing of a transport and nothing of a process. */
export type McpContext = {
  /** The API as whoever calls, or as nobody. */
  client: Client;
  /** Origin of the service. */
  host: string;
  version: string;
  /** Leaves out every tool that changes something. */
  readOnly: boolean;
  /** Signs the session in; null where each request brings who it is from. */
  signIn: SignIn | null;
  /** Whether the server runs beside the app on the person's own machine, as on stdio, so that its localhost is the app's. */
  besideApp: boolean;
  /** What to do about a call that needs somebody signed in, as a sentence for a model. */
  howToSignIn: string;
  /** Looks at a site of the caller's own from outside; from a service only at one whose domain is proven. */
  checkSite: CheckSite;
  /** The OpenAPI description of the service's API. @throws ApiError */
  openApi(): Promise<object>;
  /** Keeps a fault of ours where the operator finds it. @returns its reference number */
  report(error: unknown): string;
};

/** A sign-in by the code of a mail, which a person reads out. */
export type SignIn = {
  /** Mails a code. @param email the person's address. @returns expiresAt in ISO 8601. @throws ApiError */
  start(email: string): Promise<{ loginId: string; expiresAt: string }>;
  /** @param code six digits. @throws ApiError, also for a login that it does not know */
  complete(loginId: string, code: string): Promise<{ email: string }>;
};

/** One thing that was looked at. `ok` null: nothing could be told, and `detail` says why. */
export type SiteCheck = { id: string; ok: boolean | null; detail: string; fix: string | null };

/**
 * @param site.url the callback's address, https://<domain>/auth/callback unless given; its query is left out
 * @throws ApiError for an address that may not be looked at
 */
export type CheckSite = (site: { domain: string; url?: string }, signal: AbortSignal) => Promise<SiteCheck[]>;
