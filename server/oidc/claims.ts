import { createHmac } from 'node:crypto';
import type { Client, Provider } from 'oidc-provider';
import { isLoopbackRedirectHost } from '../../contract/rules.ts';
import type { Database } from '../db/database.ts';
import { clientKindOf } from './client-ids.ts';

/** The authentication context class of a sign-in by email (OpenID Connect Core §2). */
export const EMAIL_ACR = 'urn:emailauth:acr:email';

/**
 * Authentication methods (RFC 8176 §2): a secret of an email that is used once, and the click of a person in a browser that is
 * remembered for the address.
 */
export const AMR = { email: ['otp'], remembered: ['user'] } as const;

/** The claims of each scope. Those of `openid` are in every ID token. */
export const CLAIMS = {
  openid: ['sub', 'auth_time', 'acr', 'amr'],
  email: ['email', 'email_verified'],
  profile: ['name', 'locale'],
};

/**
 * Returns the subject identifier of an address at a client (OpenID Connect Core §8.1): different at clients of different hosts, and the
 * same for all clients of one host.
 * @param salt of the service
 */
export function pairwiseSubject(salt: Buffer, sector: string, email: string): string {
  return createHmac('sha256', salt).update(`${sector}\n${email}`).digest('base64url');
}

/**
 * Returns the host whose clients see the same subjects: that of the first redirect URI, or the client itself when it is a native one
 * or described itself, because it could name a host of others.
 */
export function sectorOf({ clientId, redirectUris }: Pick<Client, 'clientId' | 'redirectUris'>): string {
  const kind = clientKindOf(clientId);
  if (kind === 'registered' || kind === 'metadata_document') return clientId;
  const [first] = redirectUris ?? [];
  const url = first !== undefined && URL.canParse(first) ? new URL(first) : null;
  return url?.protocol.startsWith('http') && !isLoopbackRedirectHost(url.hostname) ? url.host : clientId;
}

/**
 * Returns the claims of a person that the scopes permit.
 * @param core for the name of an account, which only the scope `profile` needs
 * @param person.locale the language of the sign-in
 */
export async function claimsOf(
  core: Database['core'],
  { email, locale }: { email: string; locale: string | undefined },
  scope: string,
): Promise<Record<string, unknown> & { sub: string }> {
  const profile = scope.split(' ').includes('profile');
  const name = profile ? await nameOf(core, email) : null;
  return { sub: email, email, email_verified: true, ...(name && { name }), ...(profile && locale && { locale }) };
}

/** A session or grant of oidc-provider, which also keeps the language in which its person signed in. */
export type WithLocale = { locale?: string | undefined };

/** Makes oidc-provider store the language of sessions and grants. */
export function keepLocale({ Session, Grant }: Provider): void {
  for (const model of [Session, Grant] as unknown as { IN_PAYLOAD: string[] }[]) {
    const fields = [...model.IN_PAYLOAD, 'locale'];
    Object.defineProperty(model, 'IN_PAYLOAD', { get: () => fields });
  }
}

async function nameOf(core: Database['core'], email: string): Promise<string | null> {
  const text = 'select name from users where email = $1';
  const { rows } = await core.query<{ name: string | null }>({ name: 'oidc-name', text, values: [email] });
  return rows[0]?.name ?? null;
}
