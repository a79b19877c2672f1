import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { Destination } from '../../contract/signin.ts';
import { type Database, openDatabase } from '../../server/platform/db/database.ts';
import { createDatabase } from '../support/postgres.ts';

const WAIT_MS = 60_000;

/** Opens the pools of a database as the service does, but waits for it as long as a busy machine takes: no caller needs a 503 in time. */
export const openPatientDatabase = (url: string): Database => openDatabase(url, { waitMs: WAIT_MS });

let shared: Promise<Database> | null = null;

/** Returns the database that the tests of statements of a worker share. No service runs on it, so that nothing but a test changes its rows. */
export function useDatabase(): Promise<Database> {
  shared ??= createDatabase(inject('clusterUrl'), inject('templateUrl')).then((url) => openPatientDatabase(url));
  return shared;
}

/** Adds a row. @param row values by column; a text that begins with `sql:` is an SQL expression */
export async function insert({ core }: Database, table: string, row: Record<string, unknown>): Promise<void> {
  const values: unknown[] = [];
  const places = Object.values(row).map((value) => {
    if (typeof value === 'string' && value.startsWith('sql:')) return value.slice('sql:'.length);
    return `$${values.push(value)}`;
  });
  await core.query(`insert into ${table} (${Object.keys(row).join(', ')}) values (${places.join(', ')})`, values);
}

/** Returns bytes that no other row has: the hash of a secret, say. */
export const freshBytes = (length = 32): Buffer => randomBytes(length);

/** Returns the destination of an attempt that leads to a website. */
export function toWebsite(domain: string): Destination {
  const conditions = { maxAge: null, passkey: false };
  return { to: 'website', url: `https://${domain}/`, host: domain, website: domain, audience: domain, conditions };
}
