import { createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { DatabaseClient } from '../db/client.ts';
import { listPartitions, type Partition, type PartitionedTable } from '../db/partitions.ts';

/** Opens a connection for work of any length. An error shows at the next statement. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'emailauth-partitions',
  });
  client.on('error', () => {});
  await client.connect();
  await client.query("set statement_timeout = 0; set timezone = 'UTC'");
  return client;
}

/**
 * Returns the partitions whose newest row is older than `keptMs`, oldest first.
 * @param client whose time zone is UTC
 */
export async function partitionsOlderThan(client: pg.ClientBase, table: PartitionedTable, keptMs: number): Promise<Partition[]> {
  const { rows } = await client.query<{ before: Date }>("select now() - $1 * interval '1 millisecond' as before", [keptMs]);
  return (await listPartitions(client, table)).filter(({ to }) => to <= rows[0].before);
}

/** Returns whether the statistics and these destinations of the audit log have all rows of a partition of it. */
export async function isCounted(client: pg.ClientBase, partition: string, destinations: readonly string[]): Promise<boolean> {
  const { rows } = await client.query<{ counted: boolean }>(
    `select coalesce((select max(id) from ${client.escapeIdentifier(partition)}) <= least((select last_audit_id from roll_up),
       (select last_audit_id from visitor_roll_up), (select min(last_audit_id) from audit_exports where destination = any($1))), true) as counted`,
    [destinations],
  );
  return rows[0].counted;
}

/** Closes a connection, also while a statement runs. */
export function disconnect(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}

/**
 * Reads the rows of a partition of the audit log as lines of JSON. A control character, which JSON escapes, stands where CSV would quote.
 * @param client a connection for nothing else, since it is not usable after an interruption
 */
export function readLines(client: pg.Client, partition: string): Readable {
  const lines = client.query(
    copyTo(`copy (
      select json_strip_nulls(json_build_object('id', id::text, 'at', to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'action', action,
        'email', email, 'domain', domain, 'client_id', client_id, 'seconds', seconds))
      from ${client.escapeIdentifier(partition)} order by id
    ) to stdout (format csv, quote e'\\x01', delimiter e'\\x02')`),
  );
  // The pipeline reports an error of the stream; a later one, of the closed connection, would have no listener and end the process.
  return lines.on('error', () => {});
}

/**
 * Writes lines to DIRECTORY/NAME.jsonl.gz. The file has this name only when all of it is on the disk; a former one is replaced.
 * @returns its path
 * @throws an error of the file system, or of the source
 */
export async function writeLines(directory: string, name: string, lines: Readable, signal: AbortSignal): Promise<string> {
  const path = join(directory, `${name}.jsonl.gz`);
  const unfinished = `${path}.unfinished`;
  await pipeline(lines, createGzip(), createWriteStream(unfinished, { mode: 0o600, flush: true }), { signal });
  await rename(unfinished, path);
  await syncDirectory(directory);
  return path;
}

/** Makes the names of a directory durable. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
