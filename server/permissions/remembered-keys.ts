/**
 * How long a remembered account can sign in after its address was proven, as SQL. The expiry of its row is set at the proof and nowhere
 * else, so that the time of the proof follows from it.
 */
export const REMEMBERED_LIFE = "interval '400 days'";

/** Returns the SQL condition that the key of a remembered account has neither ended nor expired. @param key a row of remembered_keys */
export const isRememberedKeyAlive = (key: string) =>
  `${key}.verifier <> '' and ${key}.used_at > now() - interval '90 days' and ${key}.expires_at > now()`;

/** Returns when the address of a remembered account was last proven, as SQL. @param key a row of remembered_keys */
export const provenAtOf = (key: string) => `${key}.expires_at - ${REMEMBERED_LIFE}`;
