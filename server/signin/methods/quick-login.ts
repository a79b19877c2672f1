import type { Parsed } from '../../../contract/calls.ts';
import { mailboxOf } from '../../../contract/emails.ts';
import { Fault } from '../../../contract/errors.ts';
import { authKeyOf, type Browser, readAuthKey } from '../../developers/browser.ts';
import { isRememberedKeyAlive, provenAtOf, raiseGenerations } from '../../permissions/conditions.ts';
import { notBeingSignedOut } from '../../permissions/sign-outs.ts';
import type { Database } from '../../platform/db/database.ts';
import { methodCode } from '../../platform/db/method-rows.ts';
import { digest, isRandomSecret, randomSecret } from '../../platform/secrets.ts';
import { completeSignIns, type SignedIn } from '../complete.ts';
import { columnsOf, type Destinations, requireNoPasskey, withToken } from '../destination.ts';

/** How long a verifier that was replaced remains valid, for concurrent requests. */
const OVERLAP = "interval '60 seconds'";

/** Whether a row is the valid key of $1 selector, $2 verifier, $3 device and $4 address. */
const IS_VALID_KEY = `selector = $1 and device = $3 and email = $4 and ${isRememberedKeyAlive('remembered_keys')}
    and (verifier = $2 or (previous_verifier = $2 and rotated_at > now() - ${OVERLAP}))`;

/** @param seconds as SQL */
const isProvenWithin = (key: string, seconds: string) => `${provenAtOf(key)} > now() - make_interval(secs => ${seconds})`;

// The verifier is replaced once it is a day old. $1…$4 as in IS_VALID_KEY, $5 next verifier, $6 domain, $7 hash of the token, $8 browser,
// $9 audience, $10 client_id, $11 seconds since the proof of the address at most, $12 mailbox, $13 interaction.
const QUICK_LOGIN = `
with used as (
  update remembered_keys set used_at = now(),
    verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then $5 else verifier end,
    previous_verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then verifier else previous_verifier end,
    rotated_at = case when verifier = $2 and rotated_at <= now() - interval '1 day' then now() else rotated_at end
  where ${IS_VALID_KEY}
    and ($6::text is null or exists (select from websites where domain = $6))
    and ($11::integer is null or ${isProvenWithin('remembered_keys', '$11')})
    and ${notBeingSignedOut('email')}
  returning email, $12::text as mailbox, ${provenAtOf('remembered_keys')} as proven_at, verifier = $5 as rotated, verifier not in ($2, $5) as replaced
),
${completeSignIns('used', {
  method: methodCode('remembered'),
  audit: { domain: '$6::text', clientId: '$10::text' },
  token: {
    hash: '$7::bytea',
    domain: '$6',
    audience: '$9::text',
    interaction: '$13::bytea',
    browser: '$8::bytea',
    provenAt: 'proven_at',
  },
})}
select rotated, replaced from used`;

const END_REUSED_KEY = `
with ended as (
  delete from remembered_keys
  where selector = $1 and device = $2 and previous_verifier = $3 and rotated_at <= now() - ${OVERLAP}
  returning email
)
${raiseGenerations('ended')}`;

// Why a key with the conditions of a website was rejected: whether it is valid without them.
const IS_TOO_OLD = `select 1 from remembered_keys where ${IS_VALID_KEY}`;

const PROVEN_WITHIN = `
select email from remembered_keys k
where device = $1 and email = any($2) and ${isRememberedKeyAlive('k')} and ${isProvenWithin('k', '$3::integer')}`;

// The row remains without a verifier, so that the rate limits still know the device.
const FORGET_KEY = `
with ended as (
  update remembered_keys set verifier = '', previous_verifier = null where device = $1 and email = $2 and verifier <> '' returning email
)
${raiseGenerations('ended')}`;

/** A person who has signed in without an email. `authKey`: null where the browser keeps the key that it has, or has none. */
export type SignedInQuickly = Omit<SignedIn, 'authKey'> & { authKey: string | null };

/** `rotated`: the key is replaced now; `replaced`: it was replaced within the last minute, by another tab. */
type Used = { rotated: boolean; replaced: boolean };

type DestinationReader = Pick<Destinations, 'of'>;

/** Sign-ins with a remembered account, by its key and without an email. */
export class QuickLogins {
  readonly #core: Database['core'];
  readonly #destinations: DestinationReader;

  constructor(core: Database['core'], destinations: DestinationReader) {
    this.#core = core;
    this.#destinations = destinations;
  }

  /**
   * Signs in with the key of a remembered account. A key that was replaced more than a minute ago is refused and ends its successors.
   * @returns `authKey` is null where another tab just got the next key, which setting this one would end
   * @throws Fault bad_key, sign_in_too_old, passkey_required, bad_forward_url, interaction_ended
   */
  async login({ email, key, ...parameters }: Parsed<'validateKey'>, browser: Browser): Promise<SignedInQuickly> {
    const destination = await this.#destinations.of(parameters);
    requireNoPasskey(destination);
    const { maxAge } = destination.conditions;
    const { domain, audience, interaction, clientId } = columnsOf(destination);
    const parts = readAuthKey(key);
    if (!parts) throw new Fault('bad_key');
    const { selector, verifier } = parts;
    const token = randomSecret();
    const nextSecret = randomSecret();
    const device = digest(browser.device);
    const presented = [selector, verifier, device, email];
    const used = await this.#run<Used>('signin-quick', QUICK_LOGIN, [
      ...presented,
      digest(nextSecret),
      domain,
      digest(token),
      digest(browser.attempt),
      audience,
      clientId,
      maxAge,
      mailboxOf(email),
      interaction,
    ]);
    if (!used) {
      const isTooOld = maxAge !== null && (await this.#run('signin-key-age', IS_TOO_OLD, presented));
      if (isTooOld) throw new Fault('sign_in_too_old');
      await this.#run('signin-key-reuse', END_REUSED_KEY, [selector, device, verifier]);
      throw new Fault('bad_key');
    }
    const authKey = used.replaced ? null : used.rotated ? authKeyOf(selector, nextSecret) : key;
    return { email, authKey, redirectUrl: withToken(destination.url, token) };
  }

  /** Returns those of some addresses that a device remembers and that were proven on it within `maxAge` seconds. */
  async provenWithin(device: Buffer, emails: string[], maxAge: number): Promise<string[]> {
    const { rows } = await this.#core.query<{ email: string }>({
      name: 'signin-proven',
      text: PROVEN_WITHIN,
      values: [device, emails, maxAge],
    });
    return rows.map(({ email }) => email);
  }

  /** Voids the key of an account on a device, so that no one who still has it can use it. */
  async forget(email: string, device: string | undefined): Promise<void> {
    if (isRandomSecret(device)) await this.#run('signin-forget-key', FORGET_KEY, [digest(device), email]);
  }

  async #run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row | undefined> {
    return (await this.#core.query<Row>({ name, text, values })).rows[0];
  }
}
