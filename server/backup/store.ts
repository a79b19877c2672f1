import type { Readable, Writable } from 'node:stream';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { migrateWithin } from '../db/migrate.ts';
import { KEPT, type KeptTable, LEFT_OUT } from './tables.ts';

/** What there is of the things that people count. */
export type Counts = { accounts: number; websites: number; events: number };
/** What a restore has done beside copying. */
export type Finished = { migrated: string[]; apiKeys: number };

const FORMAT = '(format csv, header)';
/** How long a restore waits for somebody who reads the tables. */
const LOCK_WAIT = '10s';
const ACTIVE = '(revoked_at is null and (expires_at is null or expires_at > now()))';

const OURS = [...KEPT.map(({ name }) => name), ...LEFT_OUT, 'migrations'];

const PERMISSIONS = `
with ours as (select oid, relname as name, relowner as owner, relacl as acl from pg_class where oid in (select to_regclass(name) from unnest($1::text[]) name))
select format('grant %s on %I to %s%s', g.privilege_type, name, case g.grantee when 0 then 'public' else g.grantee::regrole::text end,
  case when g.is_grantable then ' with grant option' else '' end) as statement
from ours cross join aclexplode(acl) g where g.grantee <> owner
union all
select format('alter table %I owner to %s', name, owner::regrole) from ours where owner <> current_user::regrole
union all
select format('alter function refuse_change() owner to %s', proowner::regrole) from pg_proc
where oid = to_regprocedure('refuse_change()') and proowner <> current_user::regrole`;

/** The SQL of backups and restores, all on one connection. */
export function createBackupStore(client: pg.Client) {
  const quoted = (names: readonly string[]) => names.map((name) => client.escapeIdentifier(name)).join(', ');
  const existing = async (tables: readonly string[]): Promise<string[]> => {
    const sql = 'select name from unnest($1::text[]) as name where to_regclass(name) is not null';
    return (await client.query(sql, [tables])).rows.map(({ name }) => name);
  };
  const exists = async (table: string): Promise<boolean> => (await existing([table])).length === 1;
  const count = async (table: string, where = 'true'): Promise<number> =>
    (await exists(table)) ? (await client.query(`select count(*)::float8 as n from ${table} where ${where}`)).rows[0].n : 0;
  const columnsOf = async (table: string): Promise<{ name: string; counted: boolean }[]> => {
    const sql = `select attname as name, attidentity <> '' as counted from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`;
    return (await client.query(sql, [table])).rows;
  };

  return {
    /** Begins to read: from here on everything is as it was at this moment, whatever is written meanwhile. */
    async beginSnapshot(): Promise<{ at: Date }> {
      await client.query('begin isolation level repeatable read, read only');
      return (await client.query<{ at: Date }>('select now() as at')).rows[0];
    },

    async columns(table: string): Promise<string[]> {
      return (await columnsOf(table)).map(({ name }) => name);
    },

    /** The kept tables that this database has, an older one not all. */
    async keptTables(): Promise<KeptTable[]> {
      const there = await existing(KEPT.map(({ name }) => name));
      return KEPT.filter(({ name }) => there.includes(name));
    },

    /** The rows of a table as CSV (RFC 4180) with a line of names; `count` tells how many, once they were read. */
    copyOut({ name, where = 'true' }: KeptTable, columns: string[]): { rows: Readable; count(): Promise<number> } {
      const rows = client.query(copyTo(`copy (select ${quoted(columns)} from ${name} where ${where}) to stdout ${FORMAT}`));
      const count = async () => {
        // The number comes behind the rows, and before the answer to anything asked later.
        await client.query('select');
        return rows.rowCount;
      };
      return { rows, count };
    },

    /** Takes such rows; ends once PostgreSQL has them. */
    copyIn(table: string, columns: string[]): Writable & { rowCount: number } {
      return client.query(copyFrom(`copy ${table} (${quoted(columns)}) from stdin ${FORMAT}`));
    },

    /** Ids of the uploads whose bytes lie somewhere. */
    async storedUploads(): Promise<string[]> {
      if (!(await exists('uploads'))) return [];
      return (await client.query('select id from uploads where stored_at is not null order by id')).rows.map(({ id }) => id);
    },

    async counts(): Promise<Counts> {
      return { accounts: await count('users'), websites: await count('websites'), events: await count('audit_log') };
    },

    /** Names of tables as ours, in a database that may be another program's. */
    takenNames: () => existing([...KEPT.map(({ name }) => name), ...LEFT_OUT]),

    async beginRestore(): Promise<void> {
      await client.query(`begin; set local lock_timeout = '${LOCK_WAIT}'`);
    },

    /** Statements that give our tables to the roles that have them at this moment: who restores may be another one than who serves. */
    async permissions(): Promise<string[]> {
      const { rows } = await client.query<{ statement: string }>(PERMISSIONS, [OURS]);
      return rows.map(({ statement }) => statement);
    },

    /**
     * Drops our tables and makes those of some version anew, empty. The audit log cannot be emptied otherwise, nor an older
     * backup be taken. Whatever else is in the database stays.
     */
    async rebuild(migrations: readonly string[]): Promise<void> {
      await client.query(`drop table if exists ${OURS.join(', ')}; drop function if exists refuse_change()`);
      await migrateWithin(client, migrations);
      for (const { name } of KEPT.filter(({ seeded }) => seeded)) if (await exists(name)) await client.query(`delete from ${name}`);
    },

    /** Once the rows are in: numbers go on, the schema becomes this program's, and the audit log tells it. */
    async finish(options: { revokeApiKeys: boolean; permissions: string[] }): Promise<Finished> {
      for (const { name } of KEPT) {
        for (const column of (await columnsOf(name)).filter(({ counted }) => counted)) {
          const id = client.escapeIdentifier(column.name);
          const sql = `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${id}), 1), max(${id}) is not null) from ${name}`;
          await client.query(sql, [name, column.name]);
        }
      }
      const migrated = await migrateWithin(client);
      const apiKeys = await count('api_keys', ACTIVE);
      if (options.revokeApiKeys) {
        await client.query(
          `with ended as (update api_keys set revoked_at = now() where ${ACTIVE} returning user_id)
           insert into audit_log (action, email) select 'api_key_revoked', u.email from ended join users u on u.id = ended.user_id`,
        );
      }
      await client.query("insert into audit_log (action) values ('restored')");
      await client.query(`analyze ${KEPT.map(({ name }) => name).join(', ')}`);
      for (const statement of options.permissions) await client.query(statement);
      return { migrated, apiKeys };
    },

    async commit(): Promise<void> {
      await client.query('commit');
    },
  };
}

export type BackupStore = ReturnType<typeof createBackupStore>;
