import type { Client, Grant, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { digest } from '../secrets.ts';
import type { WithLocale } from './claims.ts';
import { clientKindOf } from './client-ids.ts';
import type { RecordsStore } from './records-store.ts';

/** The scopes that a registered website gets without a question: its visitor came to be identified by address. */
const WITHOUT_CONSENT = new Set(['openid', 'email']);

/** How long a consent is remembered without being given again, and a grant with offline access is kept. */
export const CONSENT_SECONDS = 400 * 86_400;

/**
 * Returns the grant of this browser's session for the client. A new session gets a grant of its own, so that its end does not end what
 * other devices use: with the scopes of the consent that the person gave before, or of a website that needs none. Undefined: consent
 * is needed.
 */
export async function existingGrant(ctx: KoaContextWithOIDC, store: RecordsStore): Promise<Grant | undefined> {
  const { session, result, provider, client } = ctx.oidc;
  if (!client || !session?.accountId) return undefined;
  const grantId = result?.consent?.grantId ?? session.grantIdFor(client.clientId);
  const known = grantId ? await provider.Grant.find(grantId) : undefined;
  const before = (session as WithLocale).locale;
  const locale = (result as WithLocale | undefined)?.locale ?? before;
  if (locale !== before) Object.assign(session, { locale });
  if (known?.accountId === session.accountId) return known;
  const consent = needsNoConsent(ctx, client)
    ? { openid: ['openid', 'email'].join(' '), resources: {} }
    : await consentOf(store, session.accountId, client);
  if (!consent) return undefined;
  const grant = Object.assign(new provider.Grant({ accountId: session.accountId, clientId: client.clientId }), { locale });
  if (consent.openid) grant.addOIDCScope(consent.openid);
  for (const [resource, scope] of Object.entries(consent.resources)) grant.addResourceScope(resource, scope);
  await grant.save();
  return grant;
}

function needsNoConsent(ctx: KoaContextWithOIDC, client: Client): boolean {
  const { requestParamScopes, resourceServers } = ctx.oidc;
  if (clientKindOf(client.clientId) !== 'website' || Object.keys(resourceServers ?? {}).length > 0) return false;
  return [...requestParamScopes].every((scope) => WITHOUT_CONSENT.has(scope));
}

/** An authorization request in which a person takes part. */
export type Interaction = InstanceType<Provider['Interaction']>;

/** What a person has allowed a client: scopes as text. */
type Consent = { openid: string | undefined; resources: Record<string, string> };

/** Returns the id of the record of a consent: one Grant for each person and client that no token belongs to. */
export function consentIdOf(email: string, clientId: string): string {
  return digest(`consent\n${email}\n${clientId}`).toString('hex');
}

async function consentOf(
  store: RecordsStore,
  email: string,
  { clientId, clientIdIssuedAt = 0 }: Pick<Client, 'clientId' | 'clientIdIssuedAt'>,
): Promise<Consent | null> {
  const found = await store.find('Grant', consentIdOf(email, clientId));
  if (!found) return null;
  const { iat, openid, resources } = found.payload as { iat: number; openid?: { scope?: string }; resources?: Record<string, string> };
  if (iat < clientIdIssuedAt) return null;
  return { openid: openid?.scope, resources: resources ?? {} };
}

/**
 * Grants what an interaction asks for, and remembers it as the person's consent to the client.
 * @returns the id of the grant, which has the scopes of this request
 */
export async function grantConsent(provider: Provider, store: RecordsStore, interaction: Interaction, email: string): Promise<string> {
  const clientId = String(interaction.params.client_id);
  const known = interaction.grantId ? await provider.Grant.find(interaction.grantId) : undefined;
  const grant = Object.assign(known ?? new provider.Grant({ accountId: email, clientId }), {
    locale: (interaction.lastSubmission as WithLocale | undefined)?.locale,
  });
  const details = interaction.prompt.details as {
    missingOIDCScope?: string[];
    missingOIDCClaims?: string[];
    missingResourceScopes?: Record<string, string[]>;
  };
  if (details.missingOIDCScope) grant.addOIDCScope(details.missingOIDCScope);
  if (details.missingOIDCClaims) grant.addOIDCClaims(details.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(details.missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes);
  const grantId = await grant.save();
  const consent = new provider.Grant({ accountId: email, clientId });
  const client = await provider.Client.find(clientId);
  const before = client ? await consentOf(store, email, client) : null;
  for (const scope of [before?.openid, grant.openid?.scope]) if (scope) consent.addOIDCScope(scope);
  for (const resources of [before?.resources, grant.resources])
    for (const [resource, scope] of Object.entries(resources ?? {})) consent.addResourceScope(resource, scope);
  Object.assign(consent, { jti: consentIdOf(email, clientId), expiresIn: CONSENT_SECONDS });
  await consent.save();
  return grantId;
}
