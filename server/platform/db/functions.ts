import { createHash } from 'node:crypto';
import type pg from 'pg';

/** A function of PostgreSQL that the statements of this program call. */
export type SqlFunction = {
  /** With a hash of the definition, so that each of two releases that serve one database calls its own. */
  name: string;
  /** The name without the hash. */
  family: string;
  /** What follows the name in its definition. */
  definition: string;
};

/**
 * Returns a function in PL/pgSQL. It runs with the rights of its caller.
 * @param family its name, without the hash
 * @param signature `(n integer) returns integer`
 */
export function sqlFunction(family: string, signature: string, body: string): SqlFunction {
  const definition = `${signature} language plpgsql set search_path from current as $body$${body}$body$`;
  return { name: `${family}_${createHash('sha256').update(definition).digest('hex').slice(0, 8)}`, family, definition };
}

const EXISTING = 'select proname as name from pg_proc where proname = any($1) and pg_function_is_visible(oid)';

/** The versions of a function that this role may drop, by the numbers in their comments. $1 family. */
const VERSIONS = `
select oid::regprocedure::text as signature, coalesce(substring(obj_description(oid, 'pg_proc') from '[0-9]+')::integer, 0) as version
from pg_proc where proname ~ ('^' || $1 || '_[0-9a-f]{8}$') and pg_function_is_visible(oid) and pg_has_role(proowner, 'usage')`;

/** Returns those functions that a database lacks. */
export async function missingFunctions(client: pg.ClientBase, functions: readonly SqlFunction[]): Promise<SqlFunction[]> {
  if (functions.length === 0) return [];
  const { rows } = await client.query<{ name: string }>(EXISTING, [functions.map(({ name }) => name)]);
  const existing = new Set(rows.map(({ name }) => name));
  return functions.filter(({ name }) => !existing.has(name));
}

/**
 * Creates the functions that a database lacks, in the transaction of the caller, which holds the lock of migrations. The previous version of
 * each stays, since instances of the previous release call it; older ones are dropped.
 */
export async function createFunctions(client: pg.ClientBase, functions: readonly SqlFunction[]): Promise<void> {
  for (const { name, family, definition } of await missingFunctions(client, functions)) {
    const { rows } = await client.query<{ signature: string; version: number }>(VERSIONS, [family]);
    const newest = Math.max(0, ...rows.map(({ version }) => version));
    await client.query(`create function ${name}${definition}`);
    await client.query(`comment on function ${name} is 'Email Auth, version ${newest + 1}'`);
    for (const { signature, version } of rows) if (version < newest) await client.query(`drop function ${signature}`);
  }
}
