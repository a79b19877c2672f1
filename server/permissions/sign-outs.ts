import { LOCKS } from '../platform/db/locks.ts';

/**
 * Returns a condition that is true unless the account of an address is being signed out. What a statement with this condition
 * issues was either issued before the sign-out began, which then sees and ends it, or is not issued. Never waits.
 * @param email the address, as SQL
 */
export const notBeingSignedOut = (email: string) => `pg_try_advisory_xact_lock_shared(${LOCKS.signOut}, hashtext(${email}))`;

/** Begins the transaction of a sign-out of the account $1, once everything that was being issued to it without a new email is committed. */
export const BEGIN_SIGN_OUT = `select pg_advisory_xact_lock(${LOCKS.signOut}, hashtext($1))`;

/** Waits for the end of a sign-out of the account $1, if there is one, and delays the next one until the end of the transaction. */
export const WAIT_FOR_SIGN_OUT = `select pg_advisory_xact_lock_shared(${LOCKS.signOut}, hashtext($1))`;

/**
 * Locks the device $1 until the end of the transaction, before a sign-in replaces its session. The next statement sees what the
 * previous holder of the lock committed.
 */
export const BEGIN_SESSION_CHANGE = `select pg_advisory_xact_lock(${LOCKS.device}, hashtext(encode($1, 'hex')))`;

/**
 * Locks the devices $1 and, like BEGIN_SIGN_OUT, the accounts with a session or a key on them. Accounts come first and each kind
 * is ordered, so that two logouts never deadlock; a sign-in holds a device and never waits for an account.
 */
export const LOCK_LOGOUT = `
with accounts as (
  select email from remembered_keys where device = any($1::bytea[])
  union
  select u.email from sessions s join users u on u.id = s.user_id where s.device = any($1)
),
locks as materialized (
  select ${LOCKS.signOut} as kind, hashtext(email) as key from accounts
  union
  select ${LOCKS.device}, hashtext(encode(device, 'hex')) from unnest($1) device
  order by kind, key
)
select pg_advisory_xact_lock(kind, key) from locks`;

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
