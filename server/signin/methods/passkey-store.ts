import type pg from 'pg';
import { mailboxOf } from '../../../contract/emails.ts';
import { MAX_PASSKEYS, PROOF_SECONDS } from '../../../contract/limits.ts';
import { CLI_CLIENT_ID } from '../../../contract/pkce.ts';
import { LEASE_SECONDS } from '../../mail/mail.ts';
import { generationOf, isOfGeneration, isRememberedKeyAlive, provenAtOf } from '../../permissions/conditions.ts';
import { notBeingSignedOut } from '../../permissions/sign-outs.ts';
import { addActivity } from '../../platform/db/activity-rows.ts';
import { inTransaction } from '../../platform/db/database.ts';
import { methodCode } from '../../platform/db/method-rows.ts';
import { completeSignIns, type Issued } from '../complete.ts';
import type { columnsOf } from '../destination.ts';

/** A passkey as a sign-in reads it. */
export type StoredPasskey = {
  id: string;
  email: string;
  userHandle: Buffer;
  publicKey: Buffer;
  counter: number;
  deviceType: 'singleDevice' | 'multiDevice';
  transports: string[];
  /** False: the challenge was used before. */
  fresh: boolean;
};

/** A passkey of an address, for the options of another one. */
export type KnownPasskey = { id: string; credentialId: string; userHandle: Buffer; transports: string[] };

/** A use of a passkey that was verified. `email`: the address of the passkey. `tokenHash` is null for the login of a program, which gets an authorization code. */
type PasskeyUse = {
  id: string;
  email: string;
  counter: number;
  backedUp: boolean;
  /** Null for the login of a program. */
  destination: TokenColumns | null;
  /** Whether it is bound to one device. */
  hardware: boolean;
  tokenHash: Buffer | null;
} & Omit<Issued['stored'], 'tokenHash'>;

/** A new passkey, and the challenge of its registration. */
type NewPasskey = {
  challenge: Buffer;
  /** The generation of the account when the options were issued. */
  generation: number;
  id: string;
  credentialId: string;
  email: string;
  userHandle: Buffer;
  publicKey: Uint8Array;
  counter: number;
  deviceType: string;
  backedUp: boolean;
  transports: string[];
  aaguid: string;
  name: string;
  mail: { id: string; language: string; data: Record<string, string> };
  /** The token with which the visitor continues; null: no one is signed in. */
  signIn: ({ tokenHash: Buffer; browser: Buffer; hardware: boolean } & TokenColumns) | null;
};

type TokenColumns = ReturnType<typeof columnsOf>;

/** The attempt of a program that waits for its authorization code. */
type WaitingAttempt = { id: string; redirectUri: string; state: string };

// A challenge is used up only together with a passkey that exists, so that no one fills the table. $1 credential, $2 challenge.
const BEGIN = `
with passkey as (
  select id, email, user_handle as "userHandle", public_key as "publicKey", counter::float8 as counter, device_type as "deviceType", transports
  from passkeys where credential_id = $1
),
used as (insert into passkey_challenges (hash) select $2 from passkey on conflict do nothing returning hash)
select *, exists (select from used) as fresh from passkey`;

// Of two uses with the same counter one is a clone's. $1 id, $2 counter, $3 backed up, $4 domain, $5 client_id, $6 audience, $7 hash of the
// token, $8 browser, $9 device, $10 label, $11 selector, $12 verifier, $13 mailbox, $14 interaction, $15 whether it is bound to one device.
const SIGN_IN = `
with used as (
  update passkeys set counter = $2, backed_up = $3, last_used_at = now()
  where id = $1 and (counter < $2 or counter = 0 and $2 = 0)
    and ($4::text is null or exists (select from websites where domain = $4))
    and ${notBeingSignedOut('email')}
  returning email, $13::text as mailbox
),
${completeSignIns('used', {
  method: methodCode('passkey'),
  audit: { domain: '$4::text', clientId: '$5::text' },
  token: {
    hash: '$7::bytea',
    domain: '$4',
    audience: '$6::text',
    interaction: '$14::bytea',
    browser: '$8::bytea',
    hardware: '$15::boolean',
  },
  remembered: {
    device: '$9::bytea',
    label: '$10::text',
    selector: 'case when $7::bytea is not null then $11::bytea end',
    verifier: '$12::bytea',
  },
})}
select email from used`;

const REPORT_CLONE = addActivity({ action: "'passkey_cloned'", email: 'email', object: 'name' }, 'passkeys where id = $1');

// Only an attempt of the same address: a passkey never completes a sign-in that someone else began.
const WAITING_ATTEMPT = `
select id, redirect_uri as "redirectUri", state from sign_in_attempts
where id = $1 and email = $2 and kind = 'app' and client_id = '${CLI_CLIENT_ID}' and consumed_at is null and expires_at > now()`;

const OF_ADDRESS = `
select id, credential_id as "credentialId", user_handle as "userHandle", transports from passkeys where email = $1 order by created_at`;

const PROVEN_ON = `
select ${generationOf('k.email')} as generation from remembered_keys k
where k.device = $1 and k.email = $2 and ${isRememberedKeyAlive('k')} and ${provenAtOf('k')} > now() - interval '${PROOF_SECONDS} seconds'`;

const LOCK_ADDRESS = `
select ${notBeingSignedOut('$1::text')} as admitted from pg_advisory_xact_lock(hashtextextended('passkeys ' || $1, 0))`;

// All passkeys of an address have one user handle, since an authenticator keeps one passkey for each. $1…$12: the columns, $13…$16: the
// email, $17…$21: hash of the token, its domain, audience and browser, and client_id, $22: the generation,
// $23 interaction, $24 whether the passkey is bound to one device.
const ADD = `
with challenge as (insert into passkey_challenges (hash) values ($1) on conflict do nothing returning hash),
added as (
  insert into passkeys (id, credential_id, email, user_handle, public_key, counter, device_type, backed_up, transports, aaguid, name)
  select $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 from challenge
  where ${isOfGeneration('$4', '$22::float8')}
    and not exists (select from passkeys where email = $4 and user_handle <> $5)
    and (select count(*) from passkeys where email = $4) < ${MAX_PASSKEYS}
    and ($17::bytea is null or $18::text is null or exists (select from websites where domain = $18))
  on conflict (credential_id) do nothing returning email, name
),
signed_in as (select email, null::text as mailbox from added where $17::bytea is not null),
${completeSignIns('signed_in', {
  method: methodCode('passkey'),
  audit: { domain: '$18::text', clientId: '$21::text' },
  token: {
    hash: '$17::bytea',
    domain: '$18',
    audience: '$19::text',
    interaction: '$23::bytea',
    browser: '$20::bytea',
    hardware: '$24::boolean',
  },
})},
-- PostgreSQL runs the CTEs that no other one reads from the last to the first: the row of the sign-in follows this one.
registered as (${addActivity({ action: "'passkey_added'", email: 'email', object: 'name' }, 'added')})
insert into outbox (id, kind, recipient, language, data, due_at, expires_at)
select $13, 'passkey_added', email, $14, $15, now() + make_interval(secs => $16), now() + interval '2 days' from added
returning 1`;

/** The statements of passkeys in a sign-in. What their owner changes goes through the model. */
export class PasskeyStore {
  readonly #core: pg.Pool;

  constructor(core: pg.Pool) {
    this.#core = core;
  }

  /** Returns the passkey of a credential and uses up the challenge; `fresh` is false when it was used before; null for an unknown credential. */
  async begin(credentialId: string, challenge: Buffer): Promise<StoredPasskey | null> {
    return (await this.#run<StoredPasskey>('passkey-begin', BEGIN, [credentialId, challenge]))[0] ?? null;
  }

  /** Returns the address that is signed in, or null when it is not: a clone was faster, or the website no longer exists. */
  async signIn({
    id,
    email,
    counter,
    backedUp,
    destination,
    hardware,
    tokenHash,
    browser,
    device,
    label,
    selector,
    verifier,
  }: PasskeyUse): Promise<string | null> {
    const { domain = null, clientId = null, audience = null, interaction = null } = destination ?? {};
    const issued = [tokenHash, browser, device, label, selector, verifier];
    const values = [id, counter, backedUp, domain, clientId, audience, ...issued, mailboxOf(email), interaction, hardware];
    return (await this.#run<{ email: string }>('passkey-sign-in', SIGN_IN, values))[0]?.email ?? null;
  }

  async reportClone(id: string): Promise<void> {
    await this.#run('passkey-clone', REPORT_CLONE, [id]);
  }

  /** Returns the attempt of a program for an address; null when there is none, or it has ended. */
  async waitingAttempt(id: string, email: string): Promise<WaitingAttempt | null> {
    return (await this.#run<WaitingAttempt>('passkey-attempt', WAITING_ATTEMPT, [id, email]))[0] ?? null;
  }

  /** Returns the generation of the account of an address that was proven lately on a device, or null. */
  async generationProvenOn(device: Buffer, email: string): Promise<number | null> {
    return (await this.#run<{ generation: number }>('passkey-proven', PROVEN_ON, [device, email]))[0]?.generation ?? null;
  }

  ofAddress(email: string): Promise<KnownPasskey[]> {
    return this.#run<KnownPasskey>('passkey-of-address', OF_ADDRESS, [email]);
  }

  /**
   * Adds a passkey with its audit row and its pending email. Returns false when the challenge was used or the passkey cannot be added, when
   * the account was signed out or erased since the options were issued, or when no one can be signed in with it: the website no longer exists.
   */
  async add({ mail, signIn, ...passkey }: NewPasskey): Promise<boolean> {
    const {
      challenge,
      generation,
      id,
      credentialId,
      email,
      userHandle,
      publicKey,
      counter,
      deviceType,
      backedUp,
      transports,
      aaguid,
      name,
    } = passkey;
    const values: unknown[] = [
      challenge,
      id,
      credentialId,
      email,
      userHandle,
      Buffer.from(publicKey),
      counter,
      deviceType,
      backedUp,
      transports,
    ];
    values.push(aaguid, name, mail.id, mail.language, mail.data, LEASE_SECONDS);
    const { tokenHash = null, domain = null, audience = null, browser = null, clientId = null, interaction = null } = signIn ?? {};
    values.push(tokenHash, domain, audience, browser, clientId, generation, interaction, signIn?.hardware ?? false);
    return inTransaction(this.#core, async (query) => {
      // The next statement sees the passkeys that a concurrent call has added, and the last sign-out.
      const [{ admitted }] = await query<{ admitted: boolean }>('passkey-lock', LOCK_ADDRESS, [email]);
      if (!admitted) return false;
      return (await query('passkey-add', ADD, values)).length === 1;
    });
  }

  async #run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    return (await this.#core.query<Row>({ name, text, values })).rows;
  }
}
