import { TOKEN_SECONDS } from '../../contract/limits.ts';
import { type Browser, createAuthKey, deviceLabelOf } from '../developers/browser.ts';
import { REMEMBERED_LIFE } from '../permissions/conditions.ts';
import { addActivity } from '../platform/db/activity-rows.ts';
import { digest, randomSecret } from '../platform/secrets.ts';
import { endGuesses } from './guesses.ts';

/*
 * What a sign-in leaves, whatever its method. A method proves an address in a CTE, with a row for each person who has proven one. The CTEs of
 * this file follow it in the same statement, so that all of it is committed together or not at all.
 */

/** SQL expressions over the rows of a proof. */
type Expressions<Names extends string> = Record<Names, string>;

/** What a sign-in issues and writes. */
type Completion = {
  /** How the person signed in; null where the proof does not say it. */
  method: string;
  /** The sign-in whose steps the rows are; without an email, it is made of the time and the hash of the token. */
  signIn?: string;
  /** The audit row. `action`: by default that of a sign-in to a website or the portal, and with a clientId to an application. `seconds`: from the request to the opening. */
  audit: Partial<Expressions<'action' | 'domain' | 'clientId' | 'seconds' | 'device' | 'network'>>;
  /**
   * The token of a sign-in to a website, to an authorization request or to the portal. None is issued where the hash is null. `hardware`:
   * whether the passkey is bound to one device.
   */
  token?: Expressions<'hash' | 'domain' | 'audience' | 'interaction' | 'browser'> & Partial<Expressions<'hardware' | 'provenAt'>>;
  /** The session of a developer, or the token of an application, which has a clientId and no device. */
  session?: Expressions<'userId' | 'hash'> & Partial<Expressions<'device' | 'label' | 'clientId'>> & { seconds: number };
  /** The key of the account on the device. None is written where the selector is null. */
  remembered?: Expressions<'device' | 'label' | 'selector' | 'verifier'> & Partial<Expressions<'provenAt'>>;
};

/**
 * Returns the CTEs that complete sign-ins: token or session, remembered account, end of the counter of wrong codes, and audit row.
 * @param proof a CTE with the columns `email` and `mailbox`; `mailbox` is null where the sign-in has ended the counter before
 */
export function completeSignIns(proof: string, { method, signIn, audit, token, session, remembered }: Completion): string {
  const { clientId } = audit;
  const step = signIn ?? (token && signInOf(token.hash));
  const byDefault = clientId ? `case when ${clientId} is null then 'signed_in' else 'application_signed_in' end` : "'signed_in'";
  const row = { action: byDefault, email: 'email', method, ...(step && { signIn: step }), ...audit };
  const ctes = [
    token && issueTokens(proof, method, token, step ?? 'null::uuid'),
    session && openSessions(proof, session),
    remembered && `remembered as (${rememberAccounts(proof, remembered, REPLACE_KEY)})`,
    `guesses_ended as (${endGuesses(`select mailbox from ${proof}`)})`,
    `audit as (${addActivity(row, proof)})`,
  ];
  return ctes.filter(Boolean).join(',\n');
}

/** Returns the id of a sign-in without an email, as SQL: like a UUID of version 7, with the beginning of a hash as its random part. */
const signInOf = (hash: string) =>
  `(lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || '7' || left(encode(${hash}, 'hex'), 19))::uuid`;

function issueTokens(proof: string, method: string, token: NonNullable<Completion['token']>, signIn: string): string {
  const { hash, domain, audience, interaction, browser, hardware = 'false', provenAt = 'null::timestamptz' } = token;
  return `issued as (
  insert into tokens (hash, domain, audience, interaction, email, browser, sign_in, expires_at, method, hardware, proven_at)
  select ${hash}, ${domain}, ${audience}, ${interaction}, email, ${browser}, ${signIn}, now() + interval '${TOKEN_SECONDS} seconds', ${method}, ${hardware}, ${provenAt}
  from ${proof} where ${hash} is not null
)`;
}

function openSessions(proof: string, session: NonNullable<Completion['session']>): string {
  const { userId, hash, device = 'null::bytea', label = 'null::text', clientId = 'null::text', seconds } = session;
  return `account as (
  insert into users (id, email) select ${userId}, email from ${proof} on conflict (email) do update set email = excluded.email returning id
),
session as (
  insert into sessions (hash, user_id, device, label, client_id, expires_at)
  select ${hash}, account.id, ${device}, ${label}, ${clientId}, now() + interval '${seconds} seconds' from account, ${proof}
)`;
}

const REPLACE_KEY = `update set selector = excluded.selector, verifier = excluded.verifier, label = excluded.label,
    previous_verifier = null, rotated_at = now(), used_at = now(), expires_at = excluded.expires_at`;

function rememberAccounts(proof: string, remembered: NonNullable<Completion['remembered']>, onConflict: string): string {
  const { device, label, selector, verifier, provenAt = 'now()' } = remembered;
  return `
  insert into remembered_keys (selector, device, label, email, verifier, expires_at)
  select distinct on (${device}, email) ${selector}, ${device}, ${label}, email, ${verifier}, ${provenAt} + ${REMEMBERED_LIFE}
  from ${proof} where ${selector} is not null order by ${device}, email
  on conflict (device, email) do ${onConflict}`;
}

/**
 * Returns a statement that makes a device known to the limits of an address, as the row that a logout leaves: it signs no one in.
 * @param proof a table expression with the column `email`
 */
export function knowDevice(proof: string, { device, label, selector }: Expressions<'device' | 'label' | 'selector'>): string {
  return rememberAccounts(proof, { device, label, selector, verifier: "''::bytea" }, 'nothing');
}

/** A person who has signed in: the key of the account that the browser remembers, and where it goes on. */
export type SignedIn = { email: string; authKey: string; redirectUrl: string };

/** The secrets that a sign-in issues in a browser, and how they are stored. */
export type Issued = {
  token: string;
  /** The key of the remembered account. */
  key: string;
  stored: {
    tokenHash: Buffer;
    /** SHA-256 of the attempt cookie. */
    browser: Buffer;
    /** SHA-256 of the device cookie. */
    device: Buffer;
    /** By which a person may recognize the device. */
    label: string;
    selector: Buffer;
    verifier: Buffer;
  };
};

/** Returns what a sign-in issues in a browser; secrets are random unless they are given. */
export async function issueIn(
  browser: Browser,
  { token, authKey }: { token: string; authKey: ReturnType<typeof createAuthKey> } = { token: randomSecret(), authKey: createAuthKey() },
): Promise<Issued> {
  const { key, selector, verifier } = authKey;
  const label = await deviceLabelOf(browser.userAgent);
  const stored = { tokenHash: digest(token), browser: digest(browser.attempt), device: digest(browser.device), label, selector, verifier };
  return { token, key, stored };
}
