import type { Database } from '../db/database.ts';

/** An OAuth client as the database holds it. */
export type Application = {
  id: string;
  name: string;
  clientId: string;
  redirectUris: string[];
  isActive: boolean;
  createdAt: Date;
};
export type LogEntry = { id: string; action: string; email: string | null; createdAt: Date };

/** Whose application it is; `email` is for the owner's trail. */
type Owner = { userId: string; email: string };

const APPLICATION =
  'id, name, client_id as "clientId", redirect_uris as "redirectUris", is_active as "isActive", created_at as "createdAt"';
const LOG_ENTRIES = 100;

/** A statement on `applications` that returns the row, with its audit row: the owner's act, so without client_id. $1 is the owner's address. */
const audited = (sql: string, action: string) =>
  `with application as (${sql}), audit as (insert into audit_log (action, email) select '${action}', $1 from application)
   select ${APPLICATION} from application`;

const ADD = `insert into applications (id, user_id, name, client_id, redirect_uris)
  select $2, $3, $4, $5, $6 where (select count(*) from applications where user_id = $3) < $7 returning *`;

// Active again: what began before it was switched off stays ended.
const CHANGE = `update applications
  set name = $4, redirect_uris = $5, is_active = $6, active_since = case when $6 and not is_active then now() else active_since end
  where id = $2 and user_id = $3 returning *`;

/** The SQL of applications. A change and its audit row are one statement. */
export function createApplicationStore(database: Database) {
  const ask = async <Row>(sql: string, bind: unknown[]): Promise<Row[]> => (await (await database.orm()).query(sql, { bind }))[0] as Row[];

  return {
    /** @returns null when the owner has `most` already */
    async add(
      owner: Owner,
      application: Pick<Application, 'id' | 'name' | 'clientId' | 'redirectUris'>,
      most: number,
    ): Promise<Application | null> {
      const { id, name, clientId, redirectUris } = application;
      const orm = await database.orm();
      return orm.transaction(async (transaction) => {
        // One at a time, so that the count is exact.
        await orm.query('select from users where id = $1 for no key update', { bind: [owner.userId], transaction });
        const bind = [owner.email, id, owner.userId, name, clientId, redirectUris, most];
        const [rows] = await orm.query(audited(ADD, 'application_added'), { bind, transaction });
        return (rows as Application[])[0] ?? null;
      });
    },

    ofOwner: (userId: string) =>
      ask<Application>(`select ${APPLICATION} from applications where user_id = $1 order by created_at desc, id desc`, [userId]),

    /** @returns null when it is not this owner's */
    async change(owner: Owner, changed: Pick<Application, 'id' | 'name' | 'redirectUris' | 'isActive'>): Promise<Application | null> {
      const { id, name, redirectUris, isActive } = changed;
      const bind = [owner.email, id, owner.userId, name, redirectUris, isActive];
      return (await ask<Application>(audited(CHANGE, 'application_changed'), bind))[0] ?? null;
    },

    async remove(owner: Owner, id: string): Promise<boolean> {
      const sql = audited('delete from applications where id = $2 and user_id = $3 returning *', 'application_deleted');
      return (await ask(sql, [owner.email, id, owner.userId])).length === 1;
    },

    /** What happened at an application, newest first; null when it is not this owner's. */
    async logs(userId: string, id: string): Promise<LogEntry[] | null> {
      const [application] = await ask<{ clientId: string }>(
        'select client_id as "clientId" from applications where id = $1 and user_id = $2',
        [id, userId],
      );
      if (!application) return null;
      return ask<LogEntry>(
        `select id, action, email, at as "createdAt" from audit_log where client_id = $1 order by id desc limit ${LOG_ENTRIES}`,
        [application.clientId],
      );
    },

    /** @returns null for a client that does not exist or is not active */
    async redirectUrisOf(clientId: string): Promise<string[] | null> {
      const { rows } = await database.core.query<{ uris: string[] }>({
        name: 'application-redirects',
        text: 'select redirect_uris as uris from applications where client_id = $1 and is_active',
        values: [clientId],
      });
      return rows[0]?.uris ?? null;
    },
  };
}
