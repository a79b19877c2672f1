/**
 * Returns a statement that ends the sessions of the OpenID provider (server/oidc/) on devices. Every one of them was begun by a sign-in
 * that has remembered the account on its device.
 * @param onDevices condition on a row `k` of remembered_keys
 */
export const endProviderSessions = (onDevices: string) => `
  delete from oidc_records o using remembered_keys k
  where ${onDevices} and o.kind = 'Session' and o.email = k.email and o.payload->>'device' = encode(k.device, 'hex')`;

/** Ends the sessions of the address $1 at the OpenID provider, its grants to clients, and all codes and tokens that were issued for them. */
export const END_PROVIDER_ACCESS = `
  with ended as (delete from oidc_records where email = $1 and kind in ('Session', 'Grant') returning id)
  delete from oidc_records where grant_id in (select id from ended)`;
