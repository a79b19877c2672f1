import { Fault } from '../../contract/errors.ts';
import { TOKEN_SECONDS } from '../../contract/limits.ts';
import type { Parsed } from '../../contract/routes.ts';
import { authKeyOf, type Browser, readAuthKey } from '../accounts/browser.ts';
import { notBeingSignedOut } from '../accounts/sign-outs.ts';
import type { Database } from '../db/database.ts';
import { digest, isRandomSecret, randomSecret } from '../secrets.ts';
import type { SignedIn } from './opener.ts';
import { type InteractionTargets, type SignInMethod, type Targets, withToken } from './target.ts';

// The verifier is replaced once it is a day old; the old one is valid for 60 s more, for concurrent requests. $1 selector,
// $2 verifier, $3 next verifier, $4 device, $5 address, $6 domain, $7 hash of the token, $8 browser, $9 host of the token, $10 client_id.
const QUICK_LOGIN = `
with used as (
  update remembered_keys set used_at = now(),
    verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then $3 else verifier end,
    previous_verifier = case when verifier = $2 and rotated_at <= now() - interval '1 day' then verifier else previous_verifier end,
    rotated_at = case when verifier = $2 and rotated_at <= now() - interval '1 day' then now() else rotated_at end
  where selector = $1 and device = $4 and email = $5 and used_at > now() - interval '90 days' and expires_at > now()
    and (verifier = $2 or (previous_verifier = $2 and rotated_at > now() - interval '60 seconds'))
    and ($6::text is null or exists (select from websites where domain = $6))
    and ${notBeingSignedOut('email')}
  returning email, verifier = $3 as rotated, verifier not in ($2, $3) as replaced
),
issued as (
  insert into tokens (hash, domain, host, email, browser, expires_at)
  select $7, $6, $9, email, $8, now() + interval '${TOKEN_SECONDS} seconds' from used
),
audit as (insert into audit_log (action, email, domain, client_id) select 'signed_in_again', email, $6, $10 from used)
select rotated, replaced from used`;

const END_REUSED_KEY = `
delete from remembered_keys
where selector = $1 and device = $2 and previous_verifier = $3 and rotated_at <= now() - interval '60 seconds'`;

// The row remains without a verifier, so that the rate limits still know the device.
const FORGET_KEY = "update remembered_keys set verifier = '', previous_verifier = null where device = $1 and email = $2 and verifier <> ''";

/** `rotated`: the key is replaced now; `replaced`: it was replaced within the last minute, by another tab. */
type Used = { rotated: boolean; replaced: boolean };

/** What the token of a sign-in without an email is for, and where the visitor goes with it. */
export type TokenTarget = { domain: string | null; clientId: string | null; host: string | null; forwardUrl: string };

/** What a sign-in may lead to. */
export type TargetParts = { targets: Pick<Targets, 'of'>; interactions: InteractionTargets };

/**
 * Returns what the token of a sign-in without an email is for.
 * @throws Fault bad_forward_url, interaction_ended, and bad_key when the application asks for a new sign-in and a remembered account is given
 */
export async function tokenTargetOf(
  { targets, interactions }: TargetParts,
  { forward_url, interaction }: { forward_url?: string; interaction?: string },
  method: Exclude<SignInMethod, 'email'>,
): Promise<TokenTarget> {
  if (interaction !== undefined) {
    const { clientId, url, tokenHost, mustBeFresh } = await interactions.waiting(interaction);
    if (mustBeFresh && method === 'remembered')
      throw new Fault('bad_key', { message: 'The application asks you to sign in again by email.' });
    return { domain: null, clientId, host: tokenHost[method], forwardUrl: url };
  }
  const target = targets.of(forward_url);
  if (target.kind === 'portal') return { domain: null, clientId: null, host: null, forwardUrl: target.forwardUrl };
  return { domain: target.domain, clientId: null, host: target.audience, forwardUrl: target.forwardUrl };
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
   * @throws Fault bad_key, bad_forward_url, interaction_ended
   */
  async login(
    { email, key, forward_url, interaction }: Parsed<'validateKey'>,
    browser: Browser,
  ): Promise<Omit<SignedIn, 'authKey'> & { authKey: string | null }> {
    const target = await tokenTargetOf(this.#parts, { forward_url, interaction }, 'remembered');
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
    ]);
    if (!used) {
      await this.#run('signin-key-reuse', END_REUSED_KEY, [selector, device, verifier]);
      throw new Fault('bad_key');
    }
    const authKey = used.replaced ? null : used.rotated ? authKeyOf(selector, nextSecret) : key;
    return { email, authKey, redirectUrl: withToken(target.forwardUrl, token) };
  }

  /** Voids the key of an account on a device, so that no one can use it who still has it. */
  async forget(email: string, device: string | undefined): Promise<void> {
    if (isRandomSecret(device)) await this.#run('signin-forget-key', FORGET_KEY, [digest(device), email]);
  }

  async #run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row | undefined> {
    return (await this.#core.query<Row>({ name, text, values })).rows[0];
  }
}
