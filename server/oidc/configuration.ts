import type { IncomingMessage } from 'node:http';
import type { Client, Configuration, errors, interactionPolicy, JWKS, KoaContextWithOIDC } from 'oidc-provider';
import { IDENTITY_SCOPES } from '../../contract/scopes.ts';
import { isLoopbackRedirectHost } from '../../contract/urls.ts';
import type { Database } from '../platform/db/database.ts';
import { digest, type SecretKeys } from '../platform/secrets.ts';
import { createAdapter } from './adapter.ts';
import { acrValuesOf, asksForPasskey, isPasskeyAcr } from './authentication.ts';
import { type RegistrationParts, registrationConfiguration, resourceScopesOf } from './client-rules.ts';
import type { OpenIdClients } from './clients.ts';
import { interactionPath, PATHS } from './endpoints.ts';
import { CLAIMS, CONSENT_SECONDS, claimsOf, existingGrant, isKnownAt, needsConsent, pairwiseSubject, type WithLocale } from './grants.ts';
import type { ProviderPages } from './pages.ts';
import { PROMPTS, resourceHint, resourcesOf } from './parameters.ts';
import type { RecordsStore } from './store.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long what the provider issues is valid, in seconds. */
const TTL = {
  AuthorizationCode: MINUTE,
  AccessToken: HOUR,
  IdToken: HOUR,
  RefreshToken: 30 * DAY,
  Session: 14 * DAY,
  Interaction: HOUR,
  DeviceCode: 10 * MINUTE,
  LastingGrant: CONSENT_SECONDS,
} as const;

/** What the configuration needs from the service. */
export type ConfigurationParts = {
  publicUrl: string;
  secure: boolean;
  secretKeys: SecretKeys;
  core: Database['core'];
  store: RecordsStore;
  clients: OpenIdClients;
  registration: RegistrationParts;
  pages: ProviderPages;
  /** Returns the salt of pairwise subjects. */
  salt(): Promise<Buffer>;
  deviceOf(request: IncomingMessage): Buffer | undefined;
};

/** What the configuration needs of oidc-provider, which is imported on first use. */
type Library = {
  errors: typeof errors;
  interactionPolicy: typeof interactionPolicy;
  currentRequest(): IncomingMessage | undefined;
  /** Returns the time from which the client of the request exists, if it matters. */
  clientSince(): number | undefined;
};

/** The names of the provider's cookies. Two of them have a path, which the prefix `__Host-` does not permit (RFC 6265bis §4.1.3). */
export const cookieNames = (secure: boolean) => ({
  session: secure ? '__Host-oidc_session' : 'oidc_session',
  interaction: secure ? '__Secure-oidc_interaction' : 'oidc_interaction',
  resume: secure ? '__Secure-oidc_resume' : 'oidc_resume',
});

/** Returns the configuration of oidc-provider. */
export function configurationOf(parts: ConfigurationParts, library: Library, jwks: JWKS): Configuration {
  const { publicUrl, secure, core, pages } = parts;
  const registration = registrationConfiguration(parts.registration, library.errors);
  const subjectOf = async (email: string, client: Client) =>
    pairwiseSubject(await parts.salt(), await parts.clients.sectorOf(client), email);
  const cookie = { httpOnly: true, sameSite: 'lax', path: '/', signed: false, secure } as const;
  return {
    ...registration,
    adapter: createAdapter({ ...parts, ...library }),
    jwks,
    routes: PATHS,
    discovery: { prompt_values_supported: PROMPTS },
    cookies: { names: cookieNames(secure), long: cookie, short: { ...cookie, path: undefined }, keys: [] },
    scopes: [...IDENTITY_SCOPES],
    claims: CLAIMS,
    acrValues: acrValuesOf(publicUrl),
    // Clients that read the ID token only need the address in it.
    conformIdTokenClaims: false,
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: (_, email, client) => subjectOf(email, client),
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
    enabledJWA: ALGORITHMS,
    // A confidential client without PKCE needs a nonce, which protects its codes as well (RFC 9700 §2.1.1).
    pkce: { required: ({ oidc }, client) => client.pkce_optional !== true || !oidc.params?.nonce },
    findAccount: ({ oidc }, email) => ({
      accountId: email,
      claims: async (_use, scope) => {
        const { Client: client, Grant: grant } = oidc.entities;
        const subject = client ? await subjectOf(email, client) : '';
        return claimsOf(core, { email, subject, locale: (grant as WithLocale | undefined)?.locale }, scope);
      },
    }),
    loadExistingGrant: (ctx) => existingGrant(ctx, parts.store),
    interactions: { url: (_, { uid }) => interactionPath(uid), policy: policyOf(library, parts) },
    features: { ...FEATURES, ...registration.features, ...pages.features, resourceIndicators: resourceConfiguration(publicUrl, library) },
    extraTokenClaims: (_, token) => grantClaimOf(token),
    issueRefreshToken: (_, client, source) =>
      client.grantTypeAllowed('refresh_token') && (source.scopes.has('offline_access') || isForResource(source)),
    expiresWithSession: (_, source) => !source.scopes.has('offline_access') && !isForResource(source),
    rotateRefreshToken: true,
    ttl: {
      ...TTL,
      Grant: (_, grant) => (isLasting(grant) ? TTL.LastingGrant : TTL.Session),
    },
    renderError: pages.renderError,
    clientBasedCORS: (_, origin, client) => client.redirectUris?.some((uri) => isOriginOf(origin, uri)) ?? false,
  };
}

/** Whether a page of an origin may be at a redirect URI; at a loopback host with any port (RFC 8252 §7.3). */
function isOriginOf(origin: string, redirectUri: string): boolean {
  if (!URL.canParse(redirectUri) || !URL.canParse(origin)) return false;
  const [page, uri] = [new URL(origin), new URL(redirectUri)];
  if (page.origin === uri.origin) return page.origin === origin;
  return isLoopbackRedirectHost(uri.hostname) && page.protocol === uri.protocol && page.hostname === uri.hostname;
}

/** Whether a client asks about a token of its own, or revokes one (RFC 7662 §2.1, RFC 7009 §2.1). */
const isOwnToken = (_ctx: KoaContextWithOIDC, client: Client, token: { clientId?: string | undefined }) =>
  token.clientId === client.clientId;

const FEATURES = {
  devInteractions: { enabled: false },
  introspection: { enabled: true, allowedPolicy: isOwnToken },
  revocation: { enabled: true, allowedPolicy: isOwnToken },
  backchannelLogout: { enabled: true },
  dPoP: { enabled: true },
} as const;

const ALGORITHMS = {
  idTokenSigningAlgValues: ['RS256', 'ES256'],
  clientAuthSigningAlgValues: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
  dPoPSigningAlgValues: ['ES256', 'EdDSA', 'Ed25519'],
} as const satisfies Configuration['enabledJWA'];

/** Returns the prompts in the order in which they are checked: select_account, login, consent. */
function policyOf({ interactionPolicy: { base, Check, Prompt } }: Library, { publicUrl, store }: ConfigurationParts) {
  const policy = base();
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 0);
  const login = policy.get('login')?.checks;
  const needsPasskey = ({ oidc: { acr, params } }: KoaContextWithOIDC) =>
    asksForPasskey(params?.acr_values, publicUrl) && !isPasskeyAcr(acr);
  login?.add(new Check('passkey_needed', 'the application accepts only a passkey', 'login_required', needsPasskey));
  // The response is the one without a session, so that a client cannot learn who uses this service.
  const isUnknown = async (ctx: KoaContextWithOIDC) =>
    ctx.oidc.promptPending('none') && ctx.oidc.session?.accountId !== undefined && !(await isKnownAt(ctx, store));
  // After the check for a session, whose error is the same.
  login?.add(new Check('not_known_here', 'End-User authentication is required', 'login_required', isUnknown), 1);
  const consent = policy.get('consent')?.checks;
  consent?.remove('native_client_prompt');
  consent?.add(new Check('needs_consent', 'the person has to allow the client', 'consent_required', needsConsent), 1);
  return policy;
}

/** The service's own resources (RFC 8707), whose access tokens are JWTs (RFC 9068). */
function resourceConfiguration(publicUrl: string, { errors }: Library) {
  const resources = resourcesOf(publicUrl);
  return {
    enabled: true,
    getResourceServerInfo: (_ctx: KoaContextWithOIDC, resource: string, client: Client) => {
      if (!resources.includes(resource)) throw new errors.InvalidTarget(resourceHint(publicUrl));
      return {
        scope: resourceScopesOf(client).join(' '),
        audience: resource,
        accessTokenTTL: TTL.AccessToken,
        accessTokenFormat: 'jwt' as const,
        jwt: { sign: { alg: 'ES256' as const } },
      };
    },
  };
}

/** The claim of an access token by which its grant is found: base64url of the id of its row. */
function grantClaimOf(token: object): { grant: string } | undefined {
  const { grantId, format } = token as { grantId?: string; format?: string };
  return format === 'jwt' && grantId ? { grant: digest(grantId).toString('base64url') } : undefined;
}

const isForResource = (source: object) => ((source as { resource?: string | string[] }).resource ?? []).length > 0;

function isLasting(grant: { openid?: { scope?: string }; resources?: object }): boolean {
  return grant.resources !== undefined || (grant.openid?.scope?.split(' ').includes('offline_access') ?? false);
}
