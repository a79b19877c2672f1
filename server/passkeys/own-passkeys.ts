import { Fault } from '../../contract/errors.ts';
import { MAX_PASSKEYS, PASSKEY_PROOF_SECONDS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { browserOf, rememberAccount } from '../accounts/browser.ts';
import type { Config } from '../config.ts';
import type { Database } from '../db/database.ts';
import type { Passkey } from '../db/models.ts';
import type { Cookies } from '../http/cookies.ts';
import { type Account, type Served, serve } from '../http/invoke.ts';
import { countSignIn } from '../metrics/metrics.ts';
import { digest, isRandomSecret } from '../secrets.ts';
import type { QuickLogins } from '../signin/quick-login.ts';
import { type Passkeys, rpIdOf } from './passkeys.ts';

type Parts = {
  config: Pick<Config, 'publicUrl' | 'passkeys'>;
  database: Pick<Database, 'orm'>;
  passkeys: Pick<Passkeys, 'options'>;
  quickLogins: Pick<QuickLogins, 'provenWithin'>;
};

/** The passkeys of an account, as their owner lists, adds, renames and removes them. */
export class OwnPasskeys {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Returns the passkeys in the order in which they were added. */
  async list({ email }: Account): Promise<Output<'listPasskeys'>> {
    const { config, database } = this.#parts;
    const { Passkey } = await database.orm();
    const passkeys = await Passkey.findAll({ where: { email }, order: [['createdAt', 'asc']] });
    return {
      rpId: rpIdOf(config.publicUrl, config.passkeys.rpId) ?? '',
      userHandle: passkeys[0]?.userHandle.toString('base64url') ?? null,
      passkeys: passkeys.map(present),
    };
  }

  /**
   * Returns the options to add a passkey. A session alone does not permit it: it may be weeks old, and a passkey outlives it.
   * @throws Fault sign_in_too_old unless the address was proven lately on the device of the browser, too_many
   */
  async options({ email }: Account, cookies: Cookies): Promise<Output<'passkeyOptions'>> {
    const { database, quickLogins, passkeys } = this.#parts;
    const device = cookies.get('device');
    const proven = isRandomSecret(device) ? await quickLogins.provenWithin(digest(device), [email], PASSKEY_PROOF_SECONDS) : [];
    if (proven.length === 0) throw new Fault('sign_in_too_old');
    const { Passkey } = await database.orm();
    const count = await Passkey.count({ where: { email } });
    if (count >= MAX_PASSKEYS) throw new Fault('too_many', { message: `You have ${count} passkeys, the maximum for an address.` });
    return { options: await passkeys.options(cookies, email) };
  }

  /** @throws Fault passkey_not_found */
  async rename({ email }: Account, { id, name }: Parsed<'renamePasskey'>): Promise<Output<'renamePasskey'>> {
    const { sequelize, AuditEntry, Passkey } = await this.#parts.database.orm();
    return sequelize.transaction(async (transaction) => {
      const passkey = await Passkey.findOne({ where: { id, email }, lock: transaction.LOCK.NO_KEY_UPDATE, transaction });
      if (!passkey) throw new Fault('passkey_not_found');
      passkey.set({ name });
      if (passkey.changed()) {
        await passkey.save({ transaction });
        await AuditEntry.create({ action: 'passkey_renamed', email }, { transaction });
      }
      return present(passkey);
    });
  }

  /** Removes a passkey, which signs no one in any more. @throws Fault passkey_not_found */
  async remove(account: Account, id: string): Promise<Output<'removePasskey'>> {
    const { email } = account;
    const { sequelize, AuditEntry, Passkey } = await this.#parts.database.orm();
    const before = await this.list(account);
    await sequelize.transaction(async (transaction) => {
      if ((await Passkey.destroy({ where: { id, email }, transaction })) === 0) throw new Fault('passkey_not_found');
      await AuditEntry.create({ action: 'passkey_removed', email }, { transaction });
    });
    // With the user handle of the removed passkey, by which the browser learns that it may forget it.
    return { ...(await this.list(account)), userHandle: before.userHandle };
  }
}

function present({ id, name, credentialId, backedUp, createdAt, lastUsedAt }: Passkey): Output<'renamePasskey'> {
  return {
    id,
    name,
    credentialId,
    synced: backedUp,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  };
}

/** Binds the calls of passkeys. */
export function passkeyRoutes(passkeys: Passkeys, own: OwnPasskeys): Served[] {
  return [
    serve('passkeyChallenge', (_, { cookies }) => passkeys.challenge(cookies)),
    serve('passkeySignIn', async (input, caller) => {
      const { cookies } = caller;
      const { email, authKey, redirectUrl } = await countSignIn('passkey', passkeys.signIn(input, browserOf(caller, 'renew'), cookies));
      if (authKey !== null) rememberAccount(cookies, email, authKey);
      return { redirectUrl };
    }),
    serve('registerPasskey', (input, caller) => {
      const registered = passkeys.register(input, browserOf(caller), caller.cookies);
      return (input.forward_url ?? input.interaction) ? countSignIn('passkey', registered) : registered;
    }),
    serve('listPasskeys', (_, { account }) => own.list(account)),
    serve('passkeyOptions', (_, { account, cookies }) => own.options(account, cookies)),
    serve('renamePasskey', (input, { account }) => own.rename(account, input)),
    serve('removePasskey', ({ id }, { account }) => own.remove(account, id)),
  ];
}
