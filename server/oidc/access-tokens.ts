import type { JsonWebKey } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import type pg from 'pg';
import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { RESOURCE_SCOPES } from '../../contract/scopes.ts';
import { notBeingSignedOut } from '../permissions/sign-outs.ts';
import type { Account, Identity } from '../platform/http/endpoint.ts';
import type { ProviderKeys, SigningKey } from './keys.ts';

/** An Authorization header with a JWT (RFC 7519 §3). */
const JWT = /^Bearer (eyJ[\w-]{1,2000}\.[\w-]{1,6000}\.[\w-]{1,1000})$/i;
/** An Authorization header that is meant as a JWT, so that a malformed one is refused rather than ignored. */
const MEANT_AS_JWT = /^Bearer eyJ/i;
const MEANT_AS_BOUND = /^DPoP /i;

/** The claim with the id of the row of the grant by which a token was issued, in base64url. */
const GRANT_CLAIM = 'grant';

type Parts = {
  core: pg.Pool;
  keys: ProviderKeys;
  /** PUBLIC_URL. */
  issuer: string;
};

/** Verifies access tokens that the OpenID provider has issued for a resource of this service. */
export class AccessTokens {
  readonly #parts: Parts;
  #known: { keys: readonly SigningKey[]; getKey: JWTVerifyGetKey } | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Returns the account of an access token (RFC 9068 §4), or undefined when the header is not meant as one. A person who has no account yet gets one.
   * @param resource the audience that it must have been issued for (RFC 8707)
   * @throws Fault bad_access_token when it is malformed, expired, revoked, for another resource, or bound to a key (RFC 9449)
   */
  async identityOf(authorization: string, resource: string): Promise<Identity | undefined> {
    if (MEANT_AS_BOUND.test(authorization)) throw boundToKey();
    if (!MEANT_AS_JWT.test(authorization)) return undefined;
    const [, token] = JWT.exec(authorization) ?? [];
    if (token === undefined) throw new Fault('bad_access_token');
    const claims = await this.#verify(token, resource);
    if (claims.cnf !== undefined) throw boundToKey();
    const account = await this.#accountOf(claims);
    const granted = String(claims.scope ?? '').split(' ');
    return { ...account, credential: 'access_token', scopes: RESOURCE_SCOPES.filter((scope) => granted.includes(scope)) };
  }

  async #verify(token: string, resource: string) {
    // Imported at the first token, since it takes longer than anything else at the start.
    const { jwtVerify, errors } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, await this.#getKey(), {
        typ: 'at+jwt',
        algorithms: ['ES256', 'RS256'],
        issuer: this.#parts.issuer,
        audience: resource,
        requiredClaims: ['exp', 'iat', 'sub', 'jti', 'client_id', GRANT_CLAIM],
        // The database compares the expiry with its clock.
        currentDate: new Date(0),
      });
      return payload;
    } catch (cause) {
      if (cause instanceof errors.JOSEError) throw new Fault('bad_access_token', { cause });
      throw cause;
    }
  }

  async #getKey(): Promise<JWTVerifyGetKey> {
    const { createLocalJWKSet } = await import('jose');
    const keys = await this.#parts.keys.signingKeys();
    if (this.#known?.keys !== keys) this.#known = { keys, getKey: createLocalJWKSet({ keys: keys.map(publicKeyOf) }) };
    return this.#known.getKey;
  }

  /** @throws Fault bad_access_token when the token has expired, or its grant was revoked */
  async #accountOf({ exp, [GRANT_CLAIM]: grant }: { exp?: number; [GRANT_CLAIM]?: unknown }): Promise<Account> {
    const values = [Buffer.from(String(grant), 'base64url'), exp];
    const { rows } = await this.#parts.core.query<Account & { id: string | null }>({
      name: 'oidc-grant-account',
      text: FIND_ACCOUNT,
      values,
    });
    const [found] = rows;
    if (!found) throw new Fault('bad_access_token');
    if (found.id) return found;
    const created = await this.#parts.core.query<Account>({ name: 'oidc-account-add', text: ADD_ACCOUNT, values: [...values, uuid()] });
    const [account] = created.rows;
    if (!account) throw new Fault('bad_access_token');
    return account;
  }
}

const IS_VALID = "g.kind = 'Grant' and g.id = $1 and (g.expires_at is null or g.expires_at > now()) and to_timestamp($2) > now()";

const FIND_ACCOUNT = `
select u.id, g.email, u.name from oidc_records g left join users u on u.email = g.email
where ${IS_VALID}`;

// $1 grant, $2 expiry, $3 id of the account.
const ADD_ACCOUNT = `
insert into users (id, email)
select $3, g.email from oidc_records g
where ${IS_VALID} and ${notBeingSignedOut('g.email')}
on conflict (email) do update set email = excluded.email returning id, email, name`;

/** Without the private parts. */
function publicKeyOf({ kty, kid, alg, use, crv, x, y, n, e }: SigningKey): JsonWebKey & { kty: string } {
  return { kty: String(kty), kid, alg, use, ...(kty === 'EC' ? { crv, x, y } : { n, e }) };
}

const boundToKey = () =>
  new Fault('bad_access_token', {
    message: 'Access tokens that are bound to a key (DPoP) are not accepted here.',
    hint: 'Request a bearer token for this resource.',
  });
