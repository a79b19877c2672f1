import { randomBytes } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { Fault } from '../../contract/errors.ts';
import { MAX_APPLICATIONS } from '../../contract/limits.ts';
import type { Output, Parsed } from '../../contract/routes.ts';
import type { Database } from '../db/database.ts';
import type { Application } from '../db/models.ts';
import { type Account, type Served, serve } from '../http/serve.ts';

const CLIENT_ID = /^app_[A-Za-z0-9_-]{22}$/;
const MAX_LOG_ENTRIES = 100;

/** Whether a client_id has the form of an application's, which the built-in clients have not. */
export function isApplicationId(clientId: string): boolean {
  return CLIENT_ID.test(clientId);
}

/** The OAuth clients of developers: public clients, each with its redirect URIs. Another account's application is not found. */
export class Applications {
  readonly #database: Pick<Database, 'core' | 'orm'>;

  constructor(database: Pick<Database, 'core' | 'orm'>) {
    this.#database = database;
  }

  async list({ id }: Account): Promise<Output<'listClients'>> {
    const { Application } = await this.#database.orm();
    const newestFirst = [
      ['createdAt', 'desc'],
      ['id', 'desc'],
    ] satisfies [string, string][];
    return (await Application.findAll({ where: { userId: id }, order: newestFirst, raw: true })).map(present);
  }

  /** @throws Fault too_many */
  async create({ id: userId, email }: Account, input: Parsed<'createClient'>): Promise<Output<'createClient'>> {
    const { sequelize, Application, AuditEntry, User } = await this.#database.orm();
    const clientId = `app_${randomBytes(16).toString('base64url')}`;
    return sequelize.transaction(async (transaction) => {
      // One at a time for each account, so that the count is exact.
      await User.findByPk(userId, { attributes: ['id'], lock: transaction.LOCK.NO_KEY_UPDATE, transaction });
      if ((await Application.count({ where: { userId }, transaction })) >= MAX_APPLICATIONS)
        throw new Fault('too_many', { message: `You have ${MAX_APPLICATIONS} applications, the maximum for an account.` });
      const application = await Application.create(
        { id: uuid(), userId, name: input.name, clientId, redirectUris: unique(input.redirectUris) },
        { transaction },
      );
      await AuditEntry.create({ action: 'application_added', email }, { transaction });
      return present(application);
    });
  }

  /** Deactivating an application ends its tokens and pending sign-ins for good. @throws Fault application_not_found */
  async update(account: Account, input: Parsed<'updateClient'>): Promise<Output<'updateClient'>> {
    const { id, name, isActive, redirectUris } = input;
    const { sequelize, time, Application, AuditEntry } = await this.#database.orm();
    return sequelize.transaction(async (transaction) => {
      const application = await Application.findOne({ where: { id, userId: account.id }, lock: true, transaction });
      if (!application) throw new Fault('application_not_found');
      const isReactivated = isActive && !application.isActive;
      application.set({ name, isActive, redirectUris: unique(redirectUris) });
      // Everything from before the deactivation stays ended.
      if (isReactivated) application.activeSince = time('now()');
      await application.save({ transaction });
      await AuditEntry.create({ action: 'application_changed', email: account.email }, { transaction });
      return present(application);
    });
  }

  /** Ends its tokens and pending sign-ins with it. @throws Fault application_not_found */
  async delete(account: Account, id: string): Promise<Output<'deleteClient'>> {
    const { sequelize, Application, AuditEntry } = await this.#database.orm();
    await sequelize.transaction(async (transaction) => {
      const deleted = await Application.destroy({ where: { id, userId: account.id }, transaction });
      if (deleted === 0) throw new Fault('application_not_found');
      await AuditEntry.create({ action: 'application_deleted', email: account.email }, { transaction });
    });
    return { success: true };
  }

  /** Returns the last hundred requested, completed and ended sign-ins, newest first. @throws Fault application_not_found */
  async logs(account: Account, id: string): Promise<Output<'clientLogs'>> {
    const { Application } = await this.#database.orm();
    const application = await Application.findOne({
      where: { id, userId: account.id },
      include: [
        {
          association: 'log',
          attributes: ['id', 'action', 'email', 'createdAt', 'clientId'],
          order: [['id', 'desc']],
          limit: MAX_LOG_ENTRIES,
          separate: true,
        },
      ],
    });
    if (!application) throw new Fault('application_not_found');
    const { log = [] } = application;
    return log.map((entry) => ({ id: entry.id, action: entry.action, email: entry.email, createdAt: entry.createdAt.toISOString() }));
  }

  /** Returns the redirect URIs of an active application, or null for any other client. */
  async redirectUrisOf(clientId: string): Promise<string[] | null> {
    if (!isApplicationId(clientId)) return null;
    // A prepared statement, because every sign-in to an application executes it.
    const { rows } = await this.#database.core.query<{ uris: string[] }>({
      name: 'application-redirects',
      text: 'select redirect_uris as uris from applications where client_id = $1 and is_active',
      values: [clientId],
    });
    return rows[0]?.uris ?? null;
  }
}

function present({ id, name, clientId, redirectUris, isActive, createdAt }: Application): Output<'createClient'> {
  return { id, name, clientId, redirectUris, isActive, createdAt: createdAt.toISOString() };
}

const unique = (uris: string[]) => [...new Set(uris)];

export function applicationRoutes(applications: Applications): Served[] {
  return [
    serve('listClients', (_, { account }) => applications.list(account)),
    serve('createClient', (input, { account }) => applications.create(account, input)),
    serve('updateClient', (input, { account }) => applications.update(account, input)),
    serve('deleteClient', ({ id }, { account }) => applications.delete(account, id)),
    serve('clientLogs', ({ id }, { account }) => applications.logs(account, id)),
  ];
}
