import { randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { v7 as uuid } from 'uuid';
import type { Output, Parsed } from '../../contract/calls.ts';
import { Fault } from '../../contract/errors.ts';
import { MAX_APPLICATIONS } from '../../contract/limits.ts';
import { hasOwnScheme } from '../../contract/redirect-uris.ts';
import { beginChange } from '../permissions/proofs.ts';
import { type Database, type Query, queryOf } from '../platform/db/database.ts';
import { SHOWN_ACTION } from '../platform/db/method-rows.ts';
import type { Application } from '../platform/db/models.ts';
import { type Account, actorOf, type Endpoint, handle } from '../platform/http/endpoint.ts';
import { digest } from '../platform/secrets.ts';
import { configure, newClientSecret, sectorOf } from './application-settings.ts';
import { refusalOf, remedyFor } from './refusals.ts';

const CLIENT_ID = /^app_[A-Za-z0-9_-]{22}$/;
const MAX_LOG_ENTRIES = 100;

/** Whether a client_id has the form of an application's, which the built-in clients have not. */
export function isApplicationId(clientId: string): boolean {
  return CLIENT_ID.test(clientId);
}

/** The OAuth and OpenID Connect clients of developers. Another account's application is not found. */
export class Applications {
  readonly #database: Database;

  constructor(database: Database) {
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

  /** @throws Fault bad_request, too_many */
  async create(account: Account, input: Parsed<'createClient'>): Promise<Output<'createClient'>> {
    const { id: userId, email } = account;
    const orm = await this.#database.orm();
    const { sequelize, Application, AuditEntry, User } = orm;
    const clientId = `app_${randomBytes(16).toString('base64url')}`;
    return sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(sequelize, transaction), account);
      // One at a time for each account, so that the count is exact.
      await User.findByPk(userId, { attributes: ['id'], lock: transaction.LOCK.NO_KEY_UPDATE, transaction });
      if ((await Application.count({ where: { userId }, transaction })) >= MAX_APPLICATIONS)
        throw new Fault('too_many', { message: `You have ${MAX_APPLICATIONS} applications, the maximum for an account.` });
      const { name } = input;
      const application = Application.build({ id: uuid(), userId, name, clientId, redirectUris: [] });
      const clientSecret = configure(application, input);
      application.sector = await sectorOf(orm, application, email, transaction);
      // Columns without a value get their defaults from the database, as `returning` shows them.
      await application.save({ transaction, returning: true });
      await AuditEntry.create({ action: 'application_added', ...about(account, application) }, { transaction });
      return presentChanged(application, clientSecret);
    });
  }

  /** Deactivating an application ends its tokens and pending sign-ins for good. @throws Fault application_not_found, bad_request */
  async update(account: Account, input: Parsed<'updateClient'>): Promise<Output<'updateClient'>> {
    const { name, isActive } = input;
    const orm = await this.#database.orm();
    return this.#change(account, input.id, 'application_changed', async (application, transaction) => {
      const isReactivated = isActive && !application.isActive;
      const isDeactivated = !isActive && application.isActive;
      application.set({ name, isActive });
      const clientSecret = configure(application, input);
      if (!application.sectorFixed) application.sector = await sectorOf(orm, application, account.email, transaction);
      // Everything from before the deactivation stays ended.
      if (isReactivated) application.activeSince = orm.time('now()');
      if (isDeactivated) await endGrantsOf(queryOf(orm.sequelize, transaction), application.clientId);
      return clientSecret;
    });
  }

  /**
   * Creates a new client secret; the former one remains valid for `graceHours`. While one of an earlier rotation is still valid,
   * only a rotation without a grace period is accepted, so that two people who rotate at once do not end the secret in use.
   * @throws Fault application_not_found, no_client_secret, secret_rotated
   */
  async rotateSecret(account: Account, { id, graceHours }: Parsed<'rotateClientSecret'>): Promise<Output<'rotateClientSecret'>> {
    const { sequelize, time } = await this.#database.orm();
    return this.#change(account, id, 'application_secret_rotated', async (application, transaction) => {
      if (application.authentication !== 'secret') throw new Fault('no_client_secret');
      if (graceHours > 0 && (await hasFormerSecret(queryOf(sequelize, transaction), application.id))) throw new Fault('secret_rotated');
      const isKept = graceHours > 0;
      application.previousSecretHash = isKept ? application.secretHash : null;
      application.previousSecretUntil = isKept ? time(`now() + interval '${Number(graceHours)} hours'`) : null;
      const clientSecret = newClientSecret();
      application.secretHash = digest(clientSecret);
      return clientSecret;
    });
  }

  /** Ends its tokens and pending sign-ins with it. @throws Fault application_not_found */
  async delete(account: Account, id: string): Promise<Output<'deleteClient'>> {
    const { sequelize, Application, AuditEntry } = await this.#database.orm();
    await sequelize.transaction(async (transaction) => {
      const query = queryOf(sequelize, transaction);
      await beginChange(query, account);
      const application = await Application.findOne({ where: { id, userId: account.id }, lock: true, transaction });
      if (!application) throw new Fault('application_not_found');
      await application.destroy({ transaction });
      await endGrantsOf(query, application.clientId);
      await AuditEntry.create({ action: 'application_deleted', ...about(account, application) }, { transaction });
    });
    return { success: true };
  }

  /** Returns the last hundred requested, completed and ended sign-ins, newest first. @throws Fault application_not_found */
  async logs(account: Account, id: string): Promise<Output<'clientLogs'>> {
    await this.get(account, id);
    const values = [id, MAX_LOG_ENTRIES];
    const { rows } = await this.#database.core.query<LogRow>({ name: 'application-log', text: LOG, values });
    return rows.map(({ at, ...entry }) => ({ ...entry, createdAt: at.toISOString() }));
  }

  /** Returns the last rejected requests, newest first, each with what to change. @throws Fault application_not_found */
  async refusals(account: Account, applicationId: string): Promise<Output<'clientRefusals'>> {
    await this.get(account, applicationId);
    const values = [applicationId, MAX_LOG_ENTRIES];
    const { rows } = await this.#database.core.query<Refusal>({ name: 'application-refusals', text: REFUSALS, values });
    return rows.map(({ id, at, result }) => {
      const { error, description } = refusalOf(result);
      const remedy = remedyFor({ error, description });
      return { id, createdAt: at.toISOString(), error, description, remedy };
    });
  }

  /** @throws Fault application_not_found */
  async get(account: Account, id: string): Promise<Output<'listClients'>[number]> {
    const { Application } = await this.#database.orm();
    const application = await Application.findOne({ where: { id, userId: account.id }, raw: true });
    if (!application) throw new Fault('application_not_found');
    return present(application);
  }

  /** Changes an application and records it in the audit log. @param change returns a new client secret, or null */
  async #change(
    account: Account,
    id: string,
    action: string,
    change: (application: Application, transaction: Transaction) => Promise<string | null>,
  ): Promise<Output<'updateClient'>> {
    const { sequelize, Application, AuditEntry } = await this.#database.orm();
    return sequelize.transaction(async (transaction) => {
      await beginChange(queryOf(sequelize, transaction), account);
      const application = await Application.findOne({ where: { id, userId: account.id }, lock: true, transaction });
      if (!application) throw new Fault('application_not_found');
      const clientSecret = await change(application, transaction);
      await application.save({ transaction, returning: true });
      await AuditEntry.create({ action, ...about(account, application) }, { transaction });
      return presentChanged(application, clientSecret);
    });
  }

  /**
   * Returns the redirect URIs of an active application with which the calls authorize and token may be used, or null for any other
   * client. Those calls are for public clients, and redirect to web addresses only.
   */
  async redirectUrisOf(clientId: string): Promise<string[] | null> {
    if (!isApplicationId(clientId)) return null;
    // A prepared statement, because every sign-in to an application executes it.
    const { rows } = await this.#database.core.query<{ uris: string[] }>({
      name: 'application-redirects',
      text: "select redirect_uris as uris from applications where client_id = $1 and is_active and authentication = 'none'",
      values: [clientId],
    });
    return rows[0]?.uris.filter((uri) => !hasOwnScheme(uri)) ?? null;
  }
}

/** Returns an account and its application, for a row of the audit log. */
const about = (account: Account, { id, name }: Application) => ({ ...actorOf(account), applicationId: id, object: name });

function present(application: Application): Output<'listClients'>[number] {
  const {
    id,
    name,
    clientId,
    redirectUris,
    isActive,
    authentication,
    jwks,
    jwksUri,
    logoutUris,
    backchannelLogoutUri,
    scopes,
    pkceRequired,
  } = application;
  const { createdAt, previousSecretUntil: until } = application;
  return {
    id,
    name,
    clientId,
    redirectUris,
    isActive,
    createdAt: createdAt.toISOString(),
    authentication,
    jwks: jwks ?? null,
    jwksUri: jwksUri ?? null,
    logoutUris,
    backchannelLogoutUri: backchannelLogoutUri ?? null,
    pkceRequired,
    scopes,
    formerSecretUntil: until && until.getTime() > Date.now() ? until.toISOString() : null,
  };
}

const presentChanged = (application: Application, clientSecret: string | null): Output<'createClient'> =>
  clientSecret === null ? present(application) : { ...present(application), clientSecret };

/** Binds the calls of applications. */
export function applicationEndpoints(applications: Applications): Endpoint[] {
  return [
    handle('listClients', (_, { account }) => applications.list(account)),
    handle('createClient', (input, { account }) => applications.create(account, input)),
    handle('updateClient', (input, { account }) => applications.update(account, input)),
    handle('deleteClient', ({ id }, { account }) => applications.delete(account, id)),
    handle('rotateClientSecret', (input, { account }) => applications.rotateSecret(account, input)),
    handle('clientRefusals', ({ id }, { account }) => applications.refusals(account, id)),
    handle('clientLogs', ({ id }, { account }) => applications.logs(account, id)),
  ];
}

const HAS_FORMER_SECRET = `
select 1 from applications where id = $1 and previous_secret_hash is not null and previous_secret_until > now()`;

// A grant, and all codes and tokens that were issued with it. Access tokens in JWT format become invalid with their grant.
const END_GRANTS = `
with ended as (delete from oidc_records where kind = 'Grant' and client_id = $1 returning id)
delete from oidc_records where grant_id = any(array(select id from ended))`;

// The id of the output is a text, which does not sort as a number. Rows about changes of the application have no client_id.
const LOG = `select a.id::text, ${SHOWN_ACTION} as action, email, at from audit_log a where application_id = $1
  and client_id is not null order by a.id desc limit $2`;

type LogRow = { id: string; action: string; email: string | null; at: Date };

const REFUSALS = `
select s.id::text, at, result from sign_in_steps s
where application_id = $1 and action = 'client_refused' and count is null order by s.id desc limit $2`;

/** A rejected request of a client. `result`: see refusalReason. */
type Refusal = { id: string; at: Date; result: string };

/** Returns whether the secret from before a rotation is still valid. @param query runs in a transaction */
async function hasFormerSecret(query: Query, id: string): Promise<boolean> {
  return (await query(HAS_FORMER_SECRET, [id])).rows.length > 0;
}

/** Ends everything that people have granted to a client. @param query runs in a transaction */
async function endGrantsOf(query: Query, clientId: string): Promise<void> {
  await query(END_GRANTS, [clientId]);
}
