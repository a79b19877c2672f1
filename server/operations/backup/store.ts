import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { addActivity } from '../../platform/db/activity-rows.ts';
import { migrateWithin } from '../../platform/db/migrate.ts';
import { sqlFunctions } from '../../signin/sql-functions.ts';

/** A table whose rows a backup contains. */
type KeptTable = {
  name: string;
  /** Condition for the rows; without it, all rows. */
  where?: string;
  /** Whether a migration inserts rows, which a restore deletes first. */
  seeded?: true;
};

/** The tables of a backup; a table that is referenced comes first. */
export const KEPT: readonly KeptTable[] = [
  { name: 'users' },
  // An upload that has not arrived is a permission for the holder of its address.
  { name: 'uploads', where: 'stored_at is not null' },
  { name: 'websites' },
  { name: 'website_members' },
  { name: 'website_checks' },
  { name: 'domain_claims' },
  { name: 'applications' },
  { name: 'api_keys' },
  { name: 'api_key_days' },
  // The salt of pairwise subjects, so that people keep their `sub`; encrypted with SECRET_KEY.
  { name: 'oidc_keys', where: 'algorithm is null' },
  { name: 'waitlist' },
  // Public keys: what signs in stays in the devices of the people.
  { name: 'passkeys' },
  { name: 'audit_log' },
  { name: 'daily_logins' },
  { name: 'daily_sites' },
  { name: 'daily_applications' },
  { name: 'daily_site_times' },
  { name: 'roll_up', seeded: true },
  // After a restore, the export repeats rows rather than leaving any out.
  { name: 'audit_export' },
  { name: 'website_visitors' },
  { name: 'website_erasures' },
  { name: 'visitor_roll_up', seeded: true },
  { name: 'probes' },
];

/**
 * The tables that no backup contains and that are empty after a restore: everything that gives access, pending emails and the
 * counters of rate limits. So nothing from before a restore gives access afterwards, and neither does a stolen backup.
 */
export const LEFT_OUT: readonly string[] = [
  'sign_in_attempts',
  'tokens',
  'sessions',
  'remembered_keys',
  'admin_sessions',
  'passkey_challenges',
  'account_generations',
  'outbox',
  // Diagnostics of a few days.
  'sign_in_steps',
  'oidc_records',
  'website_recipients',
  'rate_limits',
  // Another installation has a different SECRET_KEY.
  'installation',
];

/** Numbers of records, to show. */
export type Counts = { accounts: number; websites: number; events: number };
/** The migrations that a restore ran on the restored schema, and the number of active API keys in the backup. */
export type Finished = { migrated: string[]; apiKeys: number };

/** How long a restore waits for other programs that read the tables. */
const LOCK_TIMEOUT = '10s';
const ACTIVE = '(revoked_at is null and (expires_at is null or expires_at > now()))';

const OURS = [...KEPT.map(({ name }) => name), ...LEFT_OUT];
const ALL_OURS = [...OURS, 'migrations'];
/** The view of both tables of the activity log, and their sequence, have permissions of their own. */
const WITH_PERMISSIONS = [...ALL_OURS, 'activity_log', 'audit_log_id_seq'];

const PERMISSIONS = `
with ours as (select oid, relname as name, relkind as kind, relowner as owner, relacl as acl from pg_class where oid in (select to_regclass(name) from unnest($1::text[]) name))
select format('grant %s on %I to %s%s', g.privilege_type, name, case g.grantee when 0 then 'public' else g.grantee::regrole::text end,
  case when g.is_grantable then ' with grant option' else '' end) as statement
from ours cross join aclexplode(acl) g where g.grantee <> owner
union all
select format('alter table %I owner to %s', name, owner::regrole) from ours where owner <> current_user::regrole and kind <> 'S'
union all
select format('alter function refuse_change() owner to %s', proowner::regrole) from pg_proc
where oid = to_regprocedure('refuse_change()') and proowner <> current_user::regrole`;

/** The SQL of backups and restores, all on one connection. */
export class BackupStore {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    this.#client = client;
  }

  /** Begins a read-only transaction that sees the database as it is at this time. */
  async beginSnapshot(): Promise<{ at: Date }> {
    await this.#client.query('begin isolation level repeatable read, read only');
    return (await this.#client.query<{ at: Date }>('select now() as at')).rows[0];
  }

  async columns(table: string): Promise<string[]> {
    return (await this.#columnsOf(table)).map(({ name }) => name);
  }

  /** Returns the tables of a backup that exist in this database; a database with an older schema has not all of them. */
  async keptTables(): Promise<KeptTable[]> {
    const existing = await this.#existing(KEPT.map(({ name }) => name));
    return KEPT.filter(({ name }) => existing.includes(name));
  }

  /** Reads the rows of a table in the text format of COPY, where each line is a row. */
  copyOut({ name, where = 'true' }: KeptTable, columns: string[]): Readable {
    return this.#client.query(copyTo(`copy (select ${this.#quoted(columns)} from ${name} where ${where}) to stdout`));
  }

  /** Writes lines of `copyOut` to a table. @returns the number of rows */
  async copyIn(table: string, columns: string[], lines: Buffer): Promise<number> {
    const rows = this.#client.query(copyFrom(`copy ${table} (${this.#quoted(columns)}) from stdin`));
    rows.end(lines);
    await finished(rows);
    return rows.rowCount;
  }

  /** Returns the ids of uploads whose bytes are stored. */
  async storedUploads(): Promise<string[]> {
    if (!(await this.#exists('uploads'))) return [];
    return (await this.#client.query('select id from uploads where stored_at is not null order by id')).rows.map(({ id }) => id);
  }

  async counts(): Promise<Counts> {
    const [accounts, websites, events] = [await this.#count('users'), await this.#count('websites'), await this.#count('audit_log')];
    return { accounts, websites, events };
  }

  /** Returns the tables with names of ours, in a database that may belong to another program. */
  conflictingTables(): Promise<string[]> {
    return this.#existing(OURS);
  }

  async beginRestore(): Promise<void> {
    await this.#client.query(`begin; set local lock_timeout = '${LOCK_TIMEOUT}'`);
  }

  /** Returns statements that give our tables to their present owners and grantees, since the role that restores may be a different one. */
  async permissions(): Promise<string[]> {
    const { rows } = await this.#client.query<{ statement: string }>(PERMISSIONS, [WITH_PERMISSIONS]);
    return rows.map(({ statement }) => statement);
  }

  /**
   * Drops our tables and creates those of the given migrations, empty, since the audit log cannot be emptied and a backup may have an
   * older schema. Other tables remain.
   */
  async rebuild(migrations: readonly string[]): Promise<void> {
    await this.#client.query(
      `drop view if exists activity_log; drop table if exists ${ALL_OURS.join(', ')}; drop function if exists refuse_change()`,
    );
    await migrateWithin(this.#client, { migrations });
    for (const { name } of KEPT.filter(({ seeded }) => seeded))
      if (await this.#exists(name)) await this.#client.query(`delete from ${name}`);
  }

  /** Completes a restore after the rows: sets the sequences, migrates the schema and writes the audit log. */
  async finish(options: { revokeApiKeys: boolean; permissions: string[] }): Promise<Finished> {
    for (const { name } of KEPT) await this.#setSequences(name);
    const migrated = await migrateWithin(this.#client, { functions: sqlFunctions });
    const apiKeys = await this.#count('api_keys', ACTIVE);
    if (options.revokeApiKeys) {
      await this.#client.query(
        `with ended as (update api_keys set revoked_at = now() where ${ACTIVE} returning user_id, name)
         ${addActivity({ action: "'api_key_revoked'", email: 'u.email', object: 'ended.name' }, 'ended join users u on u.id = ended.user_id')}`,
      );
    }
    await this.#client.query(addActivity({ action: "'restored'" }));
    await this.#client.query(`analyze ${KEPT.map(({ name }) => name).join(', ')}`);
    for (const statement of options.permissions) await this.#client.query(statement);
    return { migrated, apiKeys };
  }

  async commit(): Promise<void> {
    await this.#client.query('commit');
  }

  async #setSequences(table: string): Promise<void> {
    for (const { name } of (await this.#columnsOf(table)).filter(({ isIdentity }) => isIdentity)) {
      const column = this.#client.escapeIdentifier(name);
      const sql = `select setval(pg_get_serial_sequence($1, $2), coalesce(max(${column}), 1), max(${column}) is not null) from ${table}`;
      await this.#client.query(sql, [table, name]);
    }
  }

  async #columnsOf(table: string): Promise<{ name: string; isIdentity: boolean }[]> {
    const sql = `select attname as name, attidentity <> '' as "isIdentity" from pg_attribute
      where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`;
    return (await this.#client.query(sql, [table])).rows;
  }

  async #count(table: string, where = 'true'): Promise<number> {
    if (!(await this.#exists(table))) return 0;
    return (await this.#client.query(`select count(*)::float8 as n from ${table} where ${where}`)).rows[0].n;
  }

  async #exists(table: string): Promise<boolean> {
    return (await this.#existing([table])).length === 1;
  }

  async #existing(tables: readonly string[]): Promise<string[]> {
    const sql = 'select name from unnest($1::text[]) as name where to_regclass(name) is not null';
    return (await this.#client.query(sql, [tables])).rows.map(({ name }) => name);
  }

  #quoted(names: readonly string[]): string {
    return names.map((name) => this.#client.escapeIdentifier(name)).join(', ');
  }
}
