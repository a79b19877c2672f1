import type { Database } from '../db/database.ts';

/** Entries of one page of a list. */
export const PAGE = 50;

const LAST_UUID = "'ffffffff-ffff-ffff-ffff-ffffffffffff'";
const LAST_BIGINT = '9223372036854775807';

type ListedSite = { id: string; domain: string; email: string | null; claimed: boolean; verified: boolean; createdAt: Date };
type ListedUser = { id: string; email: string; name: string | null; websites: number; createdAt: Date };
type ListedAudit = { id: string; action: string; email: string | null; domain: string | null; createdAt: Date };

/** Sessions of the admin pages, and all that exists, page by page. Lists are newest first and go on after the id `before`. */
export type AdminStore = {
  /** Writes the session and its audit row, and removes the one that it replaces. */
  openSession(session: { hash: Buffer; replaced: Buffer | null; email: string | null }): Promise<void>;
  /** Counts as use. @returns whether the session is open: used within 30 minutes and opened within 8 hours */
  renewSession(hash: Buffer): Promise<boolean>;
  closeSession(hash: Buffer): Promise<void>;
  /** Writes down that a wrong password was given. */
  noteRefusal(): Promise<void>;
  websites(before?: string): Promise<ListedSite[]>;
  users(before?: string): Promise<ListedUser[]>;
  auditLog(before?: string): Promise<ListedAudit[]>;
};

export function createAdminStore(database: Database): AdminStore {
  async function ask<Row>(sql: string, bind: unknown[]): Promise<Row[]> {
    const [rows] = await (await database.orm()).query(sql, { bind });
    return rows as Row[];
  }

  return {
    openSession: async ({ hash, replaced, email }) => {
      await ask(
        `with replaced as (delete from admin_sessions where hash = $2),
              audit as (insert into audit_log (action, email) values ('admin_signed_in', $3))
         insert into admin_sessions (hash, expires_at) values ($1, now() + interval '8 hours')`,
        [hash, replaced, email],
      );
    },

    renewSession: async (hash) => {
      const used = await ask(
        `update admin_sessions set seen_at = now()
         where hash = $1 and seen_at > now() - interval '30 minutes' and expires_at > now() returning 1 as open`,
        [hash],
      );
      return used.length === 1;
    },

    closeSession: async (hash) => {
      await ask(
        `with closed as (delete from admin_sessions where hash = $1 returning 1)
         insert into audit_log (action) select 'admin_signed_out' from closed`,
        [hash],
      );
    },

    noteRefusal: async () => {
      await ask(`insert into audit_log (action) values ('admin_refused')`, []);
    },

    websites: (before) =>
      ask<ListedSite>(
        `select id, domain, email, claimed_at is not null as claimed, proven_at is not null as verified, created_at as "createdAt"
         from websites where id < coalesce($1::uuid, ${LAST_UUID}) order by id desc limit ${PAGE}`,
        [before ?? null],
      ),

    users: (before) =>
      ask<ListedUser>(
        `select id, email, name, created_at as "createdAt", (select count(*)::int from websites w where w.email = u.email) as websites
         from users u where id < coalesce($1::uuid, ${LAST_UUID}) order by id desc limit ${PAGE}`,
        [before ?? null],
      ),

    auditLog: (before) =>
      ask<ListedAudit>(
        `select id, action, email, domain, at as "createdAt"
         from audit_log where id < coalesce($1, ${LAST_BIGINT}) order by id desc limit ${PAGE}`,
        [before ?? null],
      ),
  };
}
