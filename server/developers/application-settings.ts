import type { Transaction } from 'sequelize';
import type { Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { hasOwnScheme } from '../../contract/redirect-uris.ts';
import type { Application, Orm } from '../platform/db/models.ts';
import { digest, randomSecret } from '../platform/secrets.ts';
import { registrableOf } from '../websites/domains.ts';

/**
 * Sets what an application is given, and creates its first client secret when it needs one.
 * @returns the new secret, or null
 * @throws Fault bad_request
 */
export function configure(application: Application, input: Omit<Parsed<'createClient'>, 'name'>): string | null {
  const { authentication, jwks, jwksUri, backchannelLogoutUri, scopes } = input;
  application.redirectUris = unique(input.redirectUris);
  if (input.logoutUris) application.logoutUris = unique(input.logoutUris);
  if (authentication) application.authentication = authentication;
  if (jwks !== undefined) application.jwks = jwks;
  if (jwksUri !== undefined) application.jwksUri = jwksUri;
  if (backchannelLogoutUri !== undefined) application.backchannelLogoutUri = backchannelLogoutUri;
  if (scopes) application.scopes = scopes;
  // A public client has nothing else that protects its codes (RFC 9700 §2.1.1).
  application.pkceRequired = input.pkceRequired ?? (authentication === 'none' || application.pkceRequired);
  checkConsistency(application);
  if (application.authentication !== 'secret') {
    application.set({ secretHash: null, previousSecretHash: null, previousSecretUntil: null });
    return null;
  }
  if (application.secretHash) return null;
  const clientSecret = newClientSecret();
  application.secretHash = digest(clientSecret);
  return clientSecret;
}

/** Keys belong to private_key_jwt, and schemes of native programs to public clients. @throws Fault bad_request */
function checkConsistency({ authentication = 'none', jwks, jwksUri, redirectUris, pkceRequired, logoutUris = [] }: Application): void {
  const refuse = (field: string, message: string) => new Fault('bad_request', { field, message });
  const hasKeys = Boolean(jwks) || Boolean(jwksUri);
  if (authentication === 'private_key_jwt' && !hasKeys) throw refuse('jwks', 'private_key_jwt needs public keys: give jwks or jwksUri.');
  if (authentication !== 'private_key_jwt' && hasKeys)
    throw refuse('jwks', 'Public keys are for private_key_jwt only: set jwks and jwksUri to null.');
  if (jwks && jwksUri) throw refuse('jwks', 'Give jwks or jwksUri, and set the other one to null.');
  if (authentication === 'none' && pkceRequired === false)
    throw refuse('pkceRequired', 'A public client must use PKCE: set pkceRequired to true, or authentication to secret.');
  const own = [...redirectUris, ...logoutUris].find(hasOwnScheme);
  if (own && authentication !== 'none')
    throw refuse('redirectUris', `${own} is for a native program, which cannot keep a secret: set authentication to none, or use https.`);
}

/** Returns a new client secret, with a prefix by which secret scanners recognize it. */
export const newClientSecret = () => `ea_secret_${randomSecret()}`;

const unique = (uris: string[]) => [...new Set(uris)];

/**
 * Returns what the `sub` of an application's people is derived from, besides the address (OpenID Connect Core §8.1): the host of its
 * redirect URIs, where all are on one host of a domain that the owner has proven, else the client_id. So no one gets the subjects of a
 * host of others.
 * @param owner the address of its owner
 */
export async function sectorOf(
  { Website, Op }: Orm,
  { clientId, redirectUris }: Application,
  owner: string,
  transaction: Transaction,
): Promise<string> {
  const hosts = new Set(redirectUris.map((uri) => (uri.startsWith('https://') ? new URL(uri).host : '')));
  const [host] = hosts;
  if (hosts.size !== 1 || host === '') return clientId;
  const domain = registrableOf(new URL(redirectUris[0]).hostname);
  const proven = domain && (await Website.count({ where: { domain, email: owner, provenAt: { [Op.ne]: null } }, transaction }));
  return proven ? host : clientId;
}
