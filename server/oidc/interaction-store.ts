import { notBeingSignedOut } from '../accounts/locks.ts';
import type { Database } from '../db/database.ts';
import { digest } from '../secrets.ts';

// Only in the browser that began the sign-in, and only for the interaction it was begun for. $1 token, $2 browser, $3 $4 marks.
const SPEND = `
update tokens set used_at = now()
where hash = $1 and browser = $2 and host in ($3, $4) and domain is null and used_at is null and expires_at > now()
  and ${notBeingSignedOut('email')}
returning email, host`;

/**
 * Returns what the token of a sign-in is for, in the column of its host: an interaction, and how the person was identified. The id of
 * the interaction is a secret of its browser.
 */
export const tokenMark = (uid: string, method: 'email' | 'remembered') => `interaction ${method} ${digest(uid).toString('base64url')}`;

/** Spends the token of a sign-in, once. Returns who signed in and how, or null. */
export async function spendToken(
  core: Database['core'],
  uid: string,
  token: Buffer,
  browser: Buffer,
): Promise<{ email: string; method: 'email' | 'remembered' } | null> {
  const marks = [tokenMark(uid, 'email'), tokenMark(uid, 'remembered')];
  type Row = { email: string; host: string };
  const { rows } = await core.query<Row>({ name: 'oidc-spend-token', text: SPEND, values: [token, browser, ...marks] });
  const [row] = rows;
  return row ? { email: row.email, method: row.host === marks[0] ? 'email' : 'remembered' } : null;
}
