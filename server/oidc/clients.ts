import { timingSafeEqual } from 'node:crypto';
import type { Client, ClientMetadata, Provider } from 'oidc-provider';
import { IDENTITY_SCOPES } from '../../contract/scopes.ts';
import { isApplicationId } from '../applications/applications.ts';
import type { Database } from '../db/database.ts';
import { digest } from '../secrets.ts';
import { registrableOf } from '../websites/domains.ts';

type ApplicationRow = {
  name: string;
  redirectUris: string[];
  authentication: 'none' | 'secret' | 'private_key_jwt';
  secretHash: Buffer | null;
  logoutUris: string[];
  backchannelLogoutUri: string | null;
  scopes: string[];
};

const APPLICATION = `
select name, redirect_uris as "redirectUris", authentication, secret_hash as "secretHash", logout_uris as "logoutUris",
  backchannel_logout_uri as "backchannelLogoutUri", scopes
from applications where client_id = $1 and is_active`;

const REGISTERED = 'select 1 from websites where domain = $1';

const GRANT_TYPES = ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'];

/** Returns whether a client_id is the origin of a website, such as `https://shop.example`. */
export function isOrigin(clientId: string): boolean {
  return /^https?:\/\//.test(clientId) && URL.canParse(clientId) && new URL(clientId).origin === clientId;
}

/** The clients of the provider. */
export class OpenIdClients {
  readonly #core: Database['core'];
  readonly #local: boolean;

  /** @param parts.local local mode: websites on this machine are clients too */
  constructor({ core, local }: { core: Database['core']; local: boolean }) {
    this.#core = core;
    this.#local = local;
  }

  /** Returns the metadata (RFC 7591 §2) of a client that may be used now, or undefined. */
  async findClient(clientId: string): Promise<ClientMetadata | undefined> {
    if (isApplicationId(clientId)) return this.#application(clientId);
    if (isOrigin(clientId)) return this.#website(clientId);
    return undefined;
  }

  async #application(clientId: string): Promise<ClientMetadata | undefined> {
    const { rows } = await this.#core.query<ApplicationRow>({ name: 'oidc-application', text: APPLICATION, values: [clientId] });
    const [row] = rows;
    if (!row) return undefined;
    return {
      client_id: clientId,
      client_name: row.name,
      redirect_uris: row.redirectUris,
      post_logout_redirect_uris: row.logoutUris,
      token_endpoint_auth_method: row.authentication === 'secret' ? 'client_secret_basic' : row.authentication,
      ...(row.secretHash && { client_secret: row.secretHash.toString('hex') }),
      ...(row.backchannelLogoutUri && { backchannel_logout_uri: row.backchannelLogoutUri, backchannel_logout_session_required: true }),
      grant_types: GRANT_TYPES,
      subject_type: 'public',
    };
  }

  async #website(origin: string): Promise<ClientMetadata | undefined> {
    const { hostname, protocol } = new URL(origin);
    const domain = registrableOf(hostname);
    if (!domain || (protocol !== 'https:' && !(this.#local && domain === 'localhost'))) return undefined;
    const { rowCount } = await this.#core.query({ name: 'oidc-website', text: REGISTERED, values: [domain] });
    if (rowCount === 0) return undefined;
    return {
      client_id: origin,
      client_name: hostname,
      redirect_uris: [`${origin}/`],
      post_logout_redirect_uris: [`${origin}/`],
      token_endpoint_auth_method: 'none',
      grant_types: GRANT_TYPES,
      scope: IDENTITY_SCOPES.join(' '),
      subject_type: 'public',
    };
  }

  /**
   * Changes how oidc-provider compares values of clients: secrets by their hash, the redirect URIs of a website by their origin, and
   * subjects, which are pairwise for every client, also for those to which its checks do not permit that.
   */
  extend({ Client }: Provider): void {
    const { redirectUriAllowed, postLogoutRedirectUriAllowed } = Client.prototype;
    const overrides: Partial<Client> & ThisType<Client> = {
      compareClientSecret(given) {
        const hash = Buffer.from(this.clientSecret ?? '', 'hex');
        const compared = digest(given);
        return hash.length === compared.length && timingSafeEqual(hash, compared);
      },
      redirectUriAllowed(uri) {
        return isOrigin(this.clientId) ? isOn(this.clientId, uri) : redirectUriAllowed.call(this, uri);
      },
      postLogoutRedirectUriAllowed(uri) {
        return isOrigin(this.clientId) ? isOn(this.clientId, uri) : postLogoutRedirectUriAllowed.call(this, uri);
      },
    };
    Object.assign(Client.prototype, overrides);
    // The setter ignores what the metadata says.
    Object.defineProperty(Client.prototype, 'subjectType', { get: () => 'pairwise', set: () => {} });
  }
}

/** Whether a redirect URI is on an origin, without user info, backslash or fragment. */
function isOn(origin: string, uri: string): boolean {
  return (
    /^[!-[\]-~]+$/.test(uri) && uri.startsWith(`${origin}/`) && URL.canParse(uri) && new URL(uri).origin === origin && !uri.includes('#')
  );
}
