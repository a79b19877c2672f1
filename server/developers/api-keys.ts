import type { Transaction } from 'sequelize';
import { v7 as uuid } from 'uuid';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { MAX_API_KEYS } from '../../contract/limits.ts';
import { beginChange, type ProofSource, proofSourceOf, requireProof } from '../permissions/proofs.ts';
import { type Database, queryOf } from '../platform/db/database.ts';
import type { ApiKey } from '../platform/db/models.ts';
import { type Account, actorOf, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { digest, randomSecret } from '../platform/secrets.ts';

/** How many characters of the random part of a key are shown. */
const SHOWN_CHARACTERS = 6;
/** How long an ended key is listed. */
const LISTED_DAYS = 30;

/** The SQL condition that a key works, by the clock of the database. */
export const ACTIVE_KEY = '(revoked_at is null and (expires_at is null or expires_at > now()))';
const ENDED_AT = 'least(coalesce(revoked_at, expires_at), coalesce(expires_at, revoked_at))';

type UsageDay = { date: string; calls: number; refused: number };

const USAGE = `
select to_char(g.at, 'YYYY-MM-DD') as date, coalesce(d.calls, 0)::int as calls, coalesce(d.refused, 0)::int as refused
from generate_series((now() at time zone 'utc')::date - 29, (now() at time zone 'utc')::date, interval '1 day') g (at)
left join api_key_days d on d.api_key = $1 and d.day = g.at::date
order by g.at`;

/** The API keys of developers. A key is shown once, when it is created. Another account's key is not found. */
export class ApiKeys {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns active keys and those that ended within the last 30 days, newest first. */
  async list({ id: userId }: Account): Promise<Output<'listApiKeys'>> {
    const { sequelize, ApiKey, Op } = await this.#database.orm();
    const isActive = sequelize.literal(ACTIVE_KEY);
    const endedRecently = sequelize.literal(`${ENDED_AT} > now() - interval '${LISTED_DAYS} days'`);
    const keys = await ApiKey.findAll({
      attributes: { include: [[isActive, 'isActive']] },
      where: { userId, [Op.or]: [isActive, endedRecently] },
      order: [
        ['createdAt', 'desc'],
        ['id', 'desc'],
      ],
      raw: true,
    });
    return keys.map((key) => present(key, (key as ApiKey & { isActive: boolean }).isActive));
  }

  /** @throws Fault proof_needed, too_many */
  async create(
    account: Account,
    { name, environment, scopes }: Parsed<'createApiKey'>,
    proof: ProofSource | null,
  ): Promise<Output<'createApiKey'>> {
    return this.#issue(account, proof, 'api_key_created', async (transaction) => {
      await this.#requireRoom(account, transaction);
      return this.#add(account, { name, environment, scopes }, transaction);
    });
  }

  /**
   * Creates the successor of a key, which keeps working for `graceHours`. A key is replaced once.
   * @throws Fault api_key_not_found, proof_needed, too_many
   */
  async rotate(account: Account, { id, graceHours }: Parsed<'rotateApiKey'>, proof: ProofSource | null): Promise<Output<'rotateApiKey'>> {
    const { time, ApiKey } = await this.#database.orm();
    return this.#issue(account, proof, 'api_key_rotated', async (transaction) => {
      const key = await ApiKey.findOne({ where: await this.#active(account, { id, expiresAt: null }), transaction });
      if (!key) throw new Fault('api_key_not_found');
      // Without a grace period the key ends now, and its successor takes its place.
      if (graceHours > 0) await this.#requireRoom(account, transaction);
      const expiresAt = time(`now() + interval '${Number(graceHours)} hours'`);
      await ApiKey.update({ expiresAt }, { where: { id }, transaction });
      return this.#add(account, key, transaction);
    });
  }

  /** @throws Fault api_key_not_found */
  async revoke(account: Account, id: string): Promise<Output<'revokeApiKey'>> {
    const { sequelize, time, ApiKey, AuditEntry } = await this.#database.orm();
    await sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(sequelize, transaction), account);
      const where = await this.#active(account, { id });
      const key = await ApiKey.findOne({ where, lock: true, transaction });
      if (!key) throw new Fault('api_key_not_found');
      await key.update({ revokedAt: time('now()') }, { transaction });
      await AuditEntry.create({ action: 'api_key_revoked', ...actorOf(account), object: key.name }, { transaction });
    });
    return { success: true };
  }

  /** Returns the calls of the last 30 UTC days, oldest first. @throws Fault api_key_not_found */
  async usage({ id: userId }: Account, id: string): Promise<Output<'apiKeyUsage'>> {
    const { ApiKey } = await this.#database.orm();
    if (!(await ApiKey.findOne({ attributes: ['id'], where: { id, userId }, raw: true }))) throw new Fault('api_key_not_found');
    const { rows: days } = await this.#database.core.query<UsageDay>({ name: 'api-key-usage', text: USAGE, values: [id] });
    return { total: days.reduce((sum, { calls }) => sum + calls, 0), days };
  }

  /** Issues a key with its audit entry, one at a time for each account, so that the number of keys is exact. @throws Fault proof_needed */
  async #issue<Key extends { name: string }>(
    account: Account,
    proof: ProofSource | null,
    action: string,
    issue: (transaction: Transaction) => Promise<Key>,
  ): Promise<Key> {
    const { sequelize, AuditEntry, User } = await this.#database.orm();
    return sequelize.transaction(async (transaction) => {
      await requireProof(queryOf(sequelize, transaction), account, proof);
      await User.findByPk(account.id, { attributes: ['id'], lock: transaction.LOCK.NO_KEY_UPDATE, transaction });
      const key = await issue(transaction);
      await AuditEntry.create({ action, ...actorOf(account), object: key.name }, { transaction });
      return key;
    });
  }

  /** The condition of active keys of the account. */
  async #active({ id: userId }: Account, condition: { id?: string; expiresAt?: null } = {}) {
    const { sequelize, Op } = await this.#database.orm();
    return { userId, ...condition, [Op.and]: [sequelize.literal(ACTIVE_KEY)] };
  }

  /** @throws Fault too_many */
  async #requireRoom(account: Account, transaction: Transaction): Promise<void> {
    const { ApiKey } = await this.#database.orm();
    const count = await ApiKey.count({ where: await this.#active(account), transaction });
    if (count >= MAX_API_KEYS)
      throw new Fault('too_many', { message: `You have ${MAX_API_KEYS} active API keys, the maximum for an account.` });
  }

  async #add(account: Account, { name, environment, scopes }: Pick<ApiKey, 'name' | 'environment' | 'scopes'>, transaction: Transaction) {
    const { ApiKey } = await this.#database.orm();
    // The prefix lets secret scanners recognize a key; 32 random bytes follow.
    const prefix = `ea_${environment}_`;
    const key = prefix + randomSecret();
    const keyId = `${key.slice(0, prefix.length + SHOWN_CHARACTERS)}…`;
    const row = await ApiKey.create(
      { id: uuid(), userId: account.id, name, environment, scopes, keyId, hash: digest(key) },
      { transaction },
    );
    return { ...present(row, true), key };
  }
}

function present(key: ApiKey, isActive: boolean): Output<'listApiKeys'>[number] {
  const { id, name, environment, scopes, keyId, createdAt, usedAt, expiresAt } = key;
  return {
    id,
    name,
    environment,
    scopes,
    keyId,
    isActive,
    createdAt: createdAt.toISOString(),
    lastUsed: usedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

/** Binds the calls of API keys. */
export function apiKeyEndpoints(apiKeys: ApiKeys): Endpoint[] {
  return [
    handle('listApiKeys', (_, { account }) => apiKeys.list(account)),
    handle('createApiKey', (input, caller) => apiKeys.create(caller.account, input, proofSourceOf(caller))),
    handle('rotateApiKey', (input, caller) => apiKeys.rotate(caller.account, input, proofSourceOf(caller))),
    handle('revokeApiKey', ({ id }, { account }) => apiKeys.revoke(account, id)),
    handle('apiKeyUsage', ({ id }, { account }) => apiKeys.usage(account, id)),
  ];
}
