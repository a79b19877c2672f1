/*
 * The generation of an account is a number that every sign-out of it and its erasure raise. A permission that is signed instead of stored
 * carries the generation with which it was issued, and is refused once the account has a higher one.
 */

/** SHA-256 of an address, so that the row of an erased address does not contain it. @param email as SQL */
const hashOf = (email: string) => `sha256(convert_to(${email}, 'UTF8'))`;

/** Returns the generation of an address, as SQL that is a number of JavaScript; 0 before its first sign-out. @param email as SQL */
export const generationOf = (email: string) =>
  `coalesce((select g.generation from account_generations g where g.account = ${hashOf(email)}), 0)::float8`;

/**
 * Returns the SQL condition that a permission for an address is of its present generation.
 * @param email as SQL
 * @param generation the one of the permission, as SQL
 */
export const isOfGeneration = (email: string, generation: string) =>
  `not exists (select from account_generations g where g.account = ${hashOf(email)} and g.generation > ${generation})`;

/**
 * Returns a statement that raises the generations of addresses. The new one is the time in microseconds, so that it is higher than one
 * whose row was removed.
 * @param addresses a table expression with the column `email`
 */
export const raiseGenerations = (addresses: string) => `
  insert into account_generations as g (account, generation)
  select distinct ${hashOf('email')}, (extract(epoch from clock_timestamp()) * 1000000)::bigint from ${addresses} order by 1
  on conflict (account) do update set generation = greatest(excluded.generation, g.generation + 1)`;

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
