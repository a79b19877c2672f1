import type pg from 'pg';
import { TOKEN_SECONDS } from '../../contract/limits.ts';
import { notBeingSignedOut } from '../accounts/sign-outs.ts';

/** A sign-in with an address that its issuer has verified. */
export type VerifiedSignIn = {
  /** SHA-256 of the nonce. */
  nonce: Buffer;
  email: string;
  target: { domain: string | null; clientId: string | null; host: string | null };
  tokenHash: Buffer;
  /** SHA-256 of the attempt cookie. */
  browser: Buffer;
  device: Buffer;
  label: string;
  selector: Buffer;
  verifier: Buffer;
};

// The nonce is used up together with the sign-in: of several requests with one nonce, on any instance, one signs in. Nonces share the
// table of the challenges of passkeys: both are random, hashed and kept for a day. $1 nonce, $2 address, $3 domain, $4 client_id, $5 host,
// $6 hash of the token, $7 browser, $8 device, $9 label, $10 selector, $11 verifier.
const SIGN_IN = `
with used as (
  insert into passkey_challenges (hash)
  select $1 where ($3::text is null or exists (select from websites where domain = $3)) and ${notBeingSignedOut('$2::text')}
  on conflict do nothing returning hash
),
issued as (
  insert into tokens (hash, domain, host, email, browser, expires_at)
  select $6, $3, $5, $2, $7, now() + interval '${TOKEN_SECONDS} seconds' from used
),
remembered as (
  insert into remembered_keys (selector, device, label, email, verifier, expires_at)
  select $10, $8, $9, $2, $11, now() + interval '400 days' from used
  on conflict (device, email) do update set selector = excluded.selector, verifier = excluded.verifier, label = excluded.label,
    previous_verifier = null, rotated_at = now(), used_at = now(), expires_at = excluded.expires_at
),
audit as (insert into audit_log (action, email, domain, client_id) select 'signed_in_verified_email', $2, $3, $4 from used)
select count(*)::integer as signed_in from used`;

/** The statement of sign-ins with verified addresses. */
export class VerifiedSignInStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Signs in, once for each nonce. Returns false when it was used, or the website no longer exists. */
  async signIn(signIn: VerifiedSignIn): Promise<boolean> {
    const { nonce, email, target, tokenHash, browser, device, label, selector, verifier } = signIn;
    const values = [nonce, email, target.domain, target.clientId, target.host, tokenHash, browser, device, label, selector, verifier];
    const { rows } = await this.#core.query<{ signed_in: number }>({ name: 'verified-sign-in', text: SIGN_IN, values });
    return rows[0].signed_in === 1;
  }
}
