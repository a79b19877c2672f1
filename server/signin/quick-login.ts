import type { z } from 'zod';
import { Fault } from '../../contract/errors.ts';
import type { Parsed } from '../../contract/routes.ts';
import { mailboxOf } from '../../contract/rules.ts';
import type { SignInDestination } from '../../contract/signin.ts';
import { authKeyOf, type Browser, readAuthKey } from '../accounts/browser.ts';
import type { Database } from '../db/database.ts';
import { raiseGenerations } from '../permissions/generations.ts';
import { isRememberedKeyAlive, provenAtOf } from '../permissions/remembered-keys.ts';
import { notBeingSignedOut } from '../permissions/sign-outs.ts';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';
import { completeSignIns } from './complete.ts';
import { type Conditions, conditionsOf, methodCode } from './methods.ts';
import type { SignedIn } from './opener.ts';
import { type InteractionTargets, type SignInMethod, type Targets, withToken } from './target.ts';

const IS_ALIVE = isRememberedKeyAlive('remembered_keys');

/** @param seconds as SQL */
const isProvenWithin = (key: string, seconds: string) => `${provenAtOf(key)} > now() - make_interval(secs => ${seconds})`;

// The verifier is replaced once it is a day old; the old one is valid for 60 s more, for concurrent requests. $1 selector,
// $2 verifier, $3 next verifier, $4 device, $5 address, $6 domain, $7 hash of the token, $8 browser, $9 host of the token, $10 client_id,
// $11 seconds since the proof of the address at most, $12 mailbox.
const QUICK_LOGIN = `
with used as (
  update remembered_keys set used_at = now(),
    verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then $3 else verifier end,
    previous_verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then verifier else previous_verifier end,
    rotated_at = case when verifier = $2 and rotated_at <= now() - interval '1 day' then now() else rotated_at end
  where selector = $1 and device = $4 and email = $5 and ${IS_ALIVE}
    and (verifier = $2 or (previous_verifier = $2 and rotated_at > now() - interval '60 seconds'))
    and ($6::text is null or exists (select from websites where domain = $6))
    and ($11::integer is null or ${isProvenWithin('remembered_keys', '$11')})
    and ${notBeingSignedOut('email')}
  returning email, $12::text as mailbox, ${provenAtOf('remembered_keys')} as proven_at, verifier = $3 as rotated, verifier not in ($2, $3) as replaced
),
${completeSignIns('used', {
  audit: { action: "'signed_in_again'", domain: '$6', clientId: '$10::text' },
  token: {
    hash: '$7::bytea',
    domain: '$6',
    audience: '$9::text',
    browser: '$8::bytea',
    method: methodCode('remembered'),
    provenAt: 'proven_at',
  },
})}
select rotated, replaced from used`;

const END_REUSED_KEY = `
with ended as (
  delete from remembered_keys
  where selector = $1 and device = $2 and previous_verifier = $3 and rotated_at <= now() - interval '60 seconds'
  returning email
)
${raiseGenerations('ended')}`;

// Why a key with the conditions of a website was rejected: whether it is valid without them. $1 selector, $2 device, $3 address, $4 verifier.
const IS_TOO_OLD = `
select 1 from remembered_keys where selector = $1 and device = $2 and email = $3 and ${IS_ALIVE}
  and (verifier = $4 or (previous_verifier = $4 and rotated_at > now() - interval '60 seconds'))`;

const PROVEN_WITHIN = `
select email from remembered_keys k
where device = $1 and email = any($2) and ${isRememberedKeyAlive('k')} and ${isProvenWithin('k', '$3::integer')}`;

// The row remains without a verifier, so that the rate limits still know the device.
const FORGET_KEY = `
with ended as (
  update remembered_keys set verifier = '', previous_verifier = null where device = $1 and email = $2 and verifier <> '' returning email
)
${raiseGenerations('ended')}`;

/** `rotated`: the key is replaced now; `replaced`: it was replaced within the last minute, by another tab. */
type Used = { rotated: boolean; replaced: boolean };

/** What the token of a sign-in without an email is for, and where the visitor goes with it. */
export type TokenTarget = {
  domain: string | null;
  clientId: string | null;
  host: string | null;
  forwardUrl: string;
  maxAge: number | null;
};

/** What a sign-in may lead to. */
export type TargetParts = { targets: Pick<Targets, 'of'>; interactions: InteractionTargets };

/**
 * Returns what the token of a sign-in without an email is for.
 * @throws Fault bad_forward_url, interaction_ended, and passkey_required for another method where only a passkey signs in
 */
export async function tokenTargetOf(
  { targets, interactions }: TargetParts,
  { forward_url, interaction, ...asked }: z.output<typeof SignInDestination>,
  method: Exclude<SignInMethod, 'email'>,
): Promise<TokenTarget> {
  if (interaction !== undefined) {
    const { clientId, url, tokenHost, conditions } = await interactions.waiting(interaction);
    return { domain: null, clientId, host: tokenHost[method], forwardUrl: url, maxAge: maxAgeOf(conditions, method) };
  }
  const target = targets.of(forward_url);
  const maxAge = maxAgeOf(conditionsOf(asked), method);
  if (target.kind === 'portal') return { domain: null, clientId: null, host: null, forwardUrl: target.forwardUrl, maxAge };
  return { domain: target.domain, clientId: null, host: target.audience, forwardUrl: target.forwardUrl, maxAge };
}

/** @throws Fault passkey_required */
function maxAgeOf({ maxAge, passkey }: Conditions, method: SignInMethod): number | null {
  if (passkey && method !== 'hardware' && method !== 'synced') throw new Fault('passkey_required');
  return maxAge;
}

/** Sign-ins with a remembered account, by its key and without an email. */
export class QuickLogins {
  readonly #core: Database['core'];
  readonly #parts: TargetParts;

  constructor({ core, ...parts }: { core: Database['core'] } & TargetParts) {
    this.#core = core;
    this.#parts = parts;
  }

  /**
   * Signs in with the key of a remembered account. A key that was replaced more than a minute ago is refused and ends its successors.
   * @returns `authKey` is null when another tab just got the next key
   * @throws Fault bad_key, sign_in_too_old, passkey_required, bad_forward_url, interaction_ended
   */
  async login({ email, key, ...destination }: Parsed<'validateKey'>, browser: Browser): Promise<SignedIn> {
    const target = await tokenTargetOf(this.#parts, destination, 'remembered');
    const parts = readAuthKey(key);
    if (!parts) throw new Fault('bad_key');
    const { selector, verifier } = parts;
    const token = randomSecret();
    const nextSecret = randomSecret();
    const device = digest(browser.device);
    const used = await this.#run<Used>('signin-quick', QUICK_LOGIN, [
      selector,
      verifier,
      digest(nextSecret),
      device,
      email,
      target.domain,
      digest(token),
      digest(browser.attempt),
      target.host,
      target.clientId,
      target.maxAge,
      mailboxOf(email),
    ]);
    if (!used) {
      const isTooOld = target.maxAge !== null && (await this.#run('signin-key-age', IS_TOO_OLD, [selector, device, email, verifier]));
      if (isTooOld) throw new Fault('sign_in_too_old');
      await this.#run('signin-key-reuse', END_REUSED_KEY, [selector, device, verifier]);
      throw new Fault('bad_key');
    }
    const authKey = used.replaced ? null : used.rotated ? authKeyOf(selector, nextSecret) : key;
    return { email, authKey, redirectUrl: withToken(target.forwardUrl, token) };
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
