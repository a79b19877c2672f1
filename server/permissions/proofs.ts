import { Fault } from '../../contract/errors.ts';
import { PROOF_SECONDS } from '../../contract/limits.ts';
import type { Query } from '../platform/db/database.ts';
import type { Account, Caller } from '../platform/http/endpoint.ts';
import { bearerOf } from '../platform/http/reading.ts';
import { digest, isRandomSecret } from '../platform/secrets.ts';
import { generationOf, isRememberedKeyAlive, provenAtOf } from './conditions.ts';
import { WAIT_FOR_SIGN_OUT } from './sign-outs.ts';

/** A session, and the device on which its person proved the address; null for a program, whose device is that of its session. */
export type ProofSource = { session: Buffer; device: Buffer | null };

/**
 * Returns what shows when the caller's address was proven: the device of its browser, and without cookies that of its session. Null
 * for a call without a session.
 */
export function proofSourceOf({ header, cookies }: Caller): ProofSource | null {
  const authorization = header('authorization');
  const bearer = bearerOf(authorization);
  // A call with another credential is not one of the session in its cookies.
  const session = authorization === undefined ? cookies.get('sid') : bearer;
  if (!isRandomSecret(session)) return null;
  // A session cookie alone proves nothing, since it may be weeks old and copied.
  return { session: digest(session), device: bearer === undefined ? digest(cookies.get('device') ?? '') : null };
}

const IS_ACCOUNT = 'select 1 from users where id = $1 and email = $2';

/**
 * Begins what a signed-in account changes: it is committed before a sign-out or an erasure of the account begins, or not done after it.
 * @param query the first statements of a transaction, so that no row is locked before the account
 * @throws Fault sign_in_needed when the account was erased since the caller was identified
 */
export async function beginChange(query: Query, { id, email }: Account): Promise<void> {
  await query(WAIT_FOR_SIGN_OUT, [email]);
  // A statement of its own, which sees what the last sign-out or erasure has done.
  if ((await query(IS_ACCOUNT, [id, email])).rows.length === 0) throw new Fault('sign_in_needed');
}

// $1 session, $2 its device; null: the one that the session began on; $3 account.
const PROVEN = `
select ${generationOf('u.email')} as generation
from sessions s join users u on u.id = s.user_id join remembered_keys k on k.device = coalesce($2::bytea, s.device) and k.email = u.email
where s.hash = $1 and u.id = $3 and s.client_id is null and ${isRememberedKeyAlive('k')}
  and ${provenAtOf('k')} > now() - interval '${PROOF_SECONDS} seconds'`;

/**
 * Checks that the address of an account was proven lately, by an email or a passkey: a session may be weeks old, and what it gives out
 * outlives it. A click on a remembered account proves nothing.
 * @param query the first statements of a transaction
 * @param source of `proofSourceOf`
 * @returns the generation of the account
 * @throws Fault proof_needed, and sign_in_needed when the account was erased since the caller was identified
 */
export async function requireProof(query: Query, account: Account, source: ProofSource | null): Promise<number> {
  await beginChange(query, account);
  const { rows } = source ? await query(PROVEN, [source.session, source.device, account.id]) : { rows: [] };
  const [proven] = rows as { generation: number }[];
  if (!proven) throw new Fault('proof_needed');
  return proven.generation;
}
