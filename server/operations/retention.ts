import { createWriteStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { ATTEMPT_SECONDS, MAX_EVENT_AGE_SECONDS } from '../../contract/limits.ts';
import type { Config } from '../platform/config.ts';
import { DatabaseClient, disconnect, SESSION_SETTINGS } from '../platform/db/client.ts';
import type { Database } from '../platform/db/database.ts';
import { METHOD_NAME, SHOWN_ACTION } from '../platform/db/method-rows.ts';
import {
  ATTEMPTS,
  AUDIT_LOG,
  createPartitions,
  dropPartition,
  listPartitions,
  type Partition,
  type PartitionedTable,
  STEPS,
  TOKENS,
} from '../platform/db/partitions.ts';
import type { Log } from '../platform/log.ts';
import { overduePartitions } from '../platform/metrics/metrics.ts';

const DAY_MS = 86_400_000;
/** A partition that should have been dropped so long ago is overdue: the job runs every hour. */
const GRACE_MS = 3 * 3_600_000;
/** By how much the clock of an instance, which is in the ids of its attempts, may be slow. */
const CLOCK_MS = 2 * 3_600_000;
/** SQLSTATE insufficient_privilege. */
const NOT_OWNER = '42501';

/** How long the rows of a table are kept, and which of them are needed for longer. */
type Rule = { table: PartitionedTable; keptMs: number; keep: string | null };

type Parts = {
  /** A direct connection. */
  databaseUrl: string;
  config: Config['retention'];
  /** Whether rows of the audit log are kept until they are printed. */
  printsAuditLog: boolean;
  log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Whether it is an error that the tables belong to another role, which then has to run `emailauth db partitions`. */
  asOwner?: true;
};

/** What a run has done. */
type Done = { created: string[]; dropped: string[] };

/** Creates the partitions of the tables that grow with time ahead, and drops those whose rows are no longer kept. */
export class Retention {
  readonly #parts: Parts;
  readonly #rules: readonly Rule[];
  #loggedOwner = false;

  constructor(parts: Parts) {
    const { auditDays, attemptDays, tokenDays } = parts.config;
    this.#parts = parts;
    this.#rules = [
      { table: TOKENS, keptMs: tokenDays * DAY_MS, keep: null },
      {
        table: ATTEMPTS,
        keptMs: attemptDays * DAY_MS + ATTEMPT_SECONDS * 1000 + CLOCK_MS,
        keep: `kind in ('registration', 'invitation') and expires_at > now() - interval '${attemptDays} days'`,
      },
      { table: AUDIT_LOG, keptMs: auditDays * DAY_MS, keep: null },
      { table: STEPS, keptMs: MAX_EVENT_AGE_SECONDS * 1000, keep: null },
    ];
  }

  /** Reports in the metrics how many partitions should have been dropped. */
  observe(core: Database['core']): void {
    overduePartitions.readBy(async () => {
      const client = await core.connect();
      try {
        const values = [];
        for (const { table, keptMs } of this.#rules)
          values.push({ labels: { table: table.name }, value: (await partitionsOlderThan(client, table, keptMs + GRACE_MS)).length });
        return values;
      } finally {
        client.release();
      }
    });
  }

  /**
   * Does what is due. A partition that cannot be exported or dropped is kept, and the next run tries again; the others are not affected.
   * @throws the first of the errors, each of which is in the log
   */
  async run(signal: AbortSignal): Promise<Done> {
    const client = await connect(this.#parts.databaseUrl);
    const end = () => disconnect(client);
    signal.addEventListener('abort', end);
    const failures: unknown[] = [];
    const done: Done = { created: [], dropped: [] };
    try {
      done.created = await this.#create(client, failures);
      for (const rule of this.#rules) done.dropped.push(...(await this.#drop(client, rule, failures, signal)));
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
    if (failures.length > 0) throw failures[0];
    return done;
  }

  async #create(client: pg.Client, failures: unknown[]): Promise<string[]> {
    const { log } = this.#parts;
    try {
      const created = await createPartitions(client);
      if (created.length > 0) log.info({ partitions: created }, 'partitions created');
      return created;
    } catch (error) {
      if (this.#isNotOwner(error)) return [];
      log.error({ err: error }, 'partitions: none could be created; rows go to the default partitions until then');
      failures.push(error);
      return [];
    }
  }

  async #drop(client: pg.Client, { table, keptMs, keep }: Rule, failures: unknown[], signal: AbortSignal): Promise<string[]> {
    const { log } = this.#parts;
    const dropped: string[] = [];
    for (const { name } of await partitionsOlderThan(client, table, keptMs)) {
      if (signal.aborted) break;
      try {
        const file = table === AUDIT_LOG ? await this.#export(client, name, signal) : null;
        await dropPartition(client, table, name, keep);
        dropped.push(name);
        log.info({ partition: name, ...(file && { file }) }, 'partition dropped');
      } catch (error) {
        if (signal.aborted || this.#isNotOwner(error)) break;
        log.error({ err: error, partition: name }, 'partitions: one could not be exported or dropped, and is kept');
        failures.push(error);
      }
    }
    return dropped;
  }

  /** Writes a partition of the audit log to a file. @returns its path, null without RETENTION_EXPORT_DIR */
  async #export(client: pg.Client, partition: string, signal: AbortSignal): Promise<string | null> {
    const { config, databaseUrl, printsAuditLog } = this.#parts;
    if (!(await isCounted(client, partition, printsAuditLog)))
      throw new Error('Rows of the partition are not in the statistics yet, or not printed, as AUDIT_LOG demands.');
    if (config.exportDir === null) return null;
    const reader = await connect(databaseUrl);
    try {
      return await writeLines(config.exportDir, partition, readLines(reader, partition), signal);
    } finally {
      disconnect(reader);
    }
  }

  /** The owner of the tables then runs `emailauth db partitions`. */
  #isNotOwner(error: unknown): boolean {
    if (this.#parts.asOwner || Object(error).code !== NOT_OWNER) return false;
    if (!this.#loggedOwner)
      this.#parts.log.warn('partitions: the tables belong to another role; run `emailauth db partitions` every day with its DATABASE_URL');
    this.#loggedOwner = true;
    return true;
  }
}

/** Opens a connection for work of any length. An error shows at the next statement. */
async function connect(url: string): Promise<pg.Client> {
  const client = new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'emailauth-partitions',
  });
  await client.connect();
  await client.query(`set statement_timeout = 0; ${SESSION_SETTINGS}`);
  return client;
}

/**
 * Returns the partitions whose newest row is older than `keptMs`, oldest first.
 * @param client whose time zone is UTC
 */
async function partitionsOlderThan(client: pg.ClientBase, table: PartitionedTable, keptMs: number): Promise<Partition[]> {
  const { rows } = await client.query<{ before: Date }>("select now() - $1 * interval '1 millisecond' as before", [keptMs]);
  return (await listPartitions(client, table)).filter(({ to }) => to <= rows[0].before);
}

/** Returns whether all rows of a partition of the audit log are in the statistics and, with `printsAuditLog`, printed. */
async function isCounted(client: pg.ClientBase, partition: string, printsAuditLog: boolean): Promise<boolean> {
  const { rows } = await client.query<{ counted: boolean }>(
    `select coalesce((select max(id) from ${client.escapeIdentifier(partition)}) <= least((select last_audit_id from roll_up),
       (select last_audit_id from visitor_roll_up), (select last_audit_id from audit_export where $1)), true) as counted`,
    [printsAuditLog],
  );
  return rows[0].counted;
}

/**
 * Reads the rows of a partition of the audit log as lines of JSON. A control character, which JSON escapes, stands where CSV would quote.
 * @param client a connection for nothing else, since it is not usable after an interruption
 */
function readLines(client: pg.Client, partition: string): Readable {
  const lines = client.query(
    copyTo(`copy (
      select json_strip_nulls(json_build_object('id', id::text, 'at', to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), 'action', ${SHOWN_ACTION},
        'email', email, 'domain', domain, 'client_id', client_id, 'seconds', seconds, 'method', ${METHOD_NAME},
        'actor', actor, 'object', object, 'device', device, 'network', network))
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
async function writeLines(directory: string, name: string, lines: Readable, signal: AbortSignal): Promise<string> {
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
