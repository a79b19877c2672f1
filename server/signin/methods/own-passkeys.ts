import type { Output, Parsed } from '../../../contract/calls.ts';
import { Fault } from '../../../contract/errors.ts';
import { MAX_PASSKEYS } from '../../../contract/limits.ts';
import { browserOf, rememberAccount } from '../../developers/browser.ts';
import { beginChange, type ProofSource, proofSourceOf, requireProof } from '../../permissions/proofs.ts';
import type { Config } from '../../platform/config.ts';
import { type Database, queryOf } from '../../platform/db/database.ts';
import type { Passkey } from '../../platform/db/models.ts';
import type { Cookies } from '../../platform/http/cookies.ts';
import { type Account, actorOf, type Endpoint, handle } from '../../platform/http/endpoint.ts';
import { countSignIn } from '../../platform/metrics/metrics.ts';
import { type Passkeys, rpIdOf } from './passkeys.ts';

type Parts = {
  config: Config;
  database: Database;
  passkeys: Passkeys;
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
   * @throws Fault proof_needed, too_many
   */
  async options(account: Account, cookies: Cookies, proof: ProofSource | null): Promise<Output<'passkeyOptions'>> {
    const { database, passkeys } = this.#parts;
    const { email } = account;
    const { sequelize, Passkey } = await database.orm();
    const generation = await sequelize.transaction((transaction) => requireProof(queryOf(sequelize, transaction), account, proof));
    const count = await Passkey.count({ where: { email } });
    if (count >= MAX_PASSKEYS) throw new Fault('too_many', { message: `You have ${count} passkeys, the maximum for an address.` });
    return { options: await passkeys.options(cookies, email, generation) };
  }

  /** @throws Fault passkey_not_found */
  async rename(account: Account, { id, name }: Parsed<'renamePasskey'>): Promise<Output<'renamePasskey'>> {
    const { email } = account;
    const { sequelize, AuditEntry, Passkey } = await this.#parts.database.orm();
    return sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(sequelize, transaction), account);
      const passkey = await Passkey.findOne({ where: { id, email }, lock: transaction.LOCK.NO_KEY_UPDATE, transaction });
      if (!passkey) throw new Fault('passkey_not_found');
      passkey.set({ name });
      if (passkey.changed()) {
        await passkey.save({ transaction });
        await AuditEntry.create({ action: 'passkey_renamed', ...actorOf(account), object: name }, { transaction });
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
      await beginChange(queryOf(sequelize, transaction), account);
      const passkey = await Passkey.findOne({ where: { id, email }, lock: true, transaction });
      if (!passkey) throw new Fault('passkey_not_found');
      await passkey.destroy({ transaction });
      await AuditEntry.create({ action: 'passkey_removed', ...actorOf(account), object: passkey.name }, { transaction });
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
export function passkeyEndpoints(passkeys: Passkeys, own: OwnPasskeys): Endpoint[] {
  return [
    handle('passkeyChallenge', (_, { cookies }) => passkeys.challenge(cookies)),
    handle('passkeySignIn', async (input, caller) => {
      const { cookies } = caller;
      const { email, authKey, redirectUrl } = await countSignIn('passkey', passkeys.signIn(input, browserOf(caller, 'renew'), cookies));
      if (authKey !== null) rememberAccount(cookies, email, authKey);
      return { redirectUrl };
    }),
    handle('registerPasskey', (input, caller) => {
      const registered = passkeys.register(input, browserOf(caller), caller.cookies);
      return (input.forward_url ?? input.interaction) ? countSignIn('passkey', registered) : registered;
    }),
    handle('listPasskeys', (_, { account }) => own.list(account)),
    handle('passkeyOptions', (_, caller) => own.options(caller.account, caller.cookies, proofSourceOf(caller))),
    handle('renamePasskey', (input, { account }) => own.rename(account, input)),
    handle('removePasskey', ({ id }, { account }) => own.remove(account, id)),
  ];
}
