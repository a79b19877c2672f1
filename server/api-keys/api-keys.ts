import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import { MAX_API_KEYS } from '../../contract/rules.ts';
import type { Database } from '../db/database.ts';
import type { Account } from '../http/serve.ts';
import { digest, randomSecret } from '../secrets.ts';
import { type ApiKey, createApiKeyStore, type Environment, type NewKey } from './store.ts';

/** How much of a key's random part people see. */
const SHOWN = 6;

export type ApiKeys = ReturnType<typeof createApiKeys>;

/** The keys of developers' programs. A key is shown once, when it is made; another account's key is not there: 404. */
export function createApiKeys(database: Database) {
  const store = createApiKeyStore(database);
  const ownerOf = ({ id, email }: Account) => ({ userId: id, email });
  const tooMany = () => new Fault('too_many', { message: `You have ${MAX_API_KEYS} active API keys, as many as an account may have.` });

  return {
    async list(account: Account): Promise<Output<'listApiKeys'>> {
      return (await store.ofOwner(account.id)).map(present);
    },

    /** @throws Fault too_many */
    async create(account: Account, input: Parsed<'createApiKey'>): Promise<Output<'createApiKey'>> {
      const { key, row } = newKey(input.environment);
      const added = await store.add(ownerOf(account), row, input, MAX_API_KEYS);
      if (!added) throw tooMany();
      return { ...present(added), key };
    },

    /** Makes a key's successor; the old one works on for `graceHours`. A key is replaced once. @throws Fault api_key_not_found, too_many */
    async rotate(account: Account, { id, graceHours }: Parsed<'rotateApiKey'>): Promise<Output<'rotateApiKey'>> {
      const old = await store.find(account.id, id);
      if (!old?.isActive || old.expiresAt) throw new Fault('api_key_not_found');
      const { key, row } = newKey(old.environment);
      const successor = await store.rotate(ownerOf(account), id, row, graceHours, MAX_API_KEYS);
      if (!successor) throw tooMany();
      return { ...present(successor), key };
    },

    /** @throws Fault api_key_not_found */
    async revoke(account: Account, id: string): Promise<Output<'revokeApiKey'>> {
      if (!(await store.revoke(ownerOf(account), id))) throw new Fault('api_key_not_found');
      return { success: true };
    },

    /** @throws Fault api_key_not_found */
    async usage(account: Account, id: string): Promise<Output<'apiKeyUsage'>> {
      if (!(await store.find(account.id, id))) throw new Fault('api_key_not_found');
      const days = await store.usage(id);
      return { total: days.reduce((sum, { calls }) => sum + calls, 0), days };
    },
  };
}

/** 32 random bytes behind a prefix that secret scanners can find. */
function newKey(environment: Environment): { key: string; row: NewKey } {
  const prefix = `ea_${environment}_`;
  const key = prefix + randomSecret();
  return { key, row: { id: uuid(), keyId: `${key.slice(0, prefix.length + SHOWN)}…`, hash: digest(key) } };
}

function present({ usedAt, createdAt, expiresAt, ...key }: ApiKey): Output<'listApiKeys'>[number] {
  return {
    ...key,
    createdAt: createdAt.toISOString(),
    lastUsed: usedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}
