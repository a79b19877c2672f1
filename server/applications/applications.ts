import { randomBytes } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { MAX_APPLICATIONS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import type { Account } from '../http/serve.ts';
import { type Application, createApplicationStore } from './store.ts';

const CLIENT_ID = /^app_[A-Za-z0-9_-]{22}$/;

/** Whether a client_id can be an application's, and not that of a client of our own. */
export function isApplicationId(clientId: string): boolean {
  return CLIENT_ID.test(clientId);
}

export type Applications = ReturnType<typeof createApplications>;

/** Developers' own OAuth clients: public ones, each with its redirect URIs. Another account's application is not there: 404. */
export function createApplications(database: Database) {
  const store = createApplicationStore(database);
  const ownerOf = ({ id, email }: Account) => ({ userId: id, email });

  return {
    async list(account: Account): Promise<Output<'listClients'>> {
      return (await store.ofOwner(account.id)).map(present);
    },

    /** @throws Fault too_many */
    async create(account: Account, { name, redirectUris }: Parsed<'createClient'>): Promise<Output<'createClient'>> {
      const clientId = `app_${randomBytes(16).toString('base64url')}`;
      const added = await store.add(ownerOf(account), { id: uuid(), name, clientId, redirectUris: unique(redirectUris) }, MAX_APPLICATIONS);
      if (!added) throw new Fault('too_many', { message: `You have ${MAX_APPLICATIONS} applications, as many as an account may have.` });
      return present(added);
    },

    /** Switched off, its tokens and open sign-ins end at once, and for good. @throws Fault application_not_found */
    async update(account: Account, input: Parsed<'updateClient'>): Promise<Output<'updateClient'>> {
      const changed = await store.change(ownerOf(account), { ...input, redirectUris: unique(input.redirectUris) });
      if (!changed) throw new Fault('application_not_found');
      return present(changed);
    },

    /** Its tokens and open sign-ins end with it. @throws Fault application_not_found */
    async delete(account: Account, id: string): Promise<Output<'deleteClient'>> {
      if (!(await store.remove(ownerOf(account), id))) throw new Fault('application_not_found');
      return { success: true };
    },

    /** The last hundred sign-ins asked for, completed and ended. @throws Fault application_not_found */
    async logs(account: Account, id: string): Promise<Output<'clientLogs'>> {
      const entries = await store.logs(account.id, id);
      if (!entries) throw new Fault('application_not_found');
      return entries.map((entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() }));
    },

    /** Where an active application may be sent; null for any other client. */
    redirectUrisOf: async (clientId: string): Promise<string[] | null> =>
      isApplicationId(clientId) ? store.redirectUrisOf(clientId) : null,
  };
}

function present({ id, name, clientId, redirectUris, isActive, createdAt }: Application): Output<'createClient'> {
  return { id, name, clientId, redirectUris, isActive, createdAt: createdAt.toISOString() };
}

const unique = (uris: string[]) => [...new Set(uris)];
