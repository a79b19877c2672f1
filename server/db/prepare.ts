import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { StartError } from '../start-error.ts';
import { DatabaseClient } from './client.ts';
import { type DatabaseRoute, directRoute } from './database.ts';
import { placeOf } from './hosts.ts';
import { migrate } from './migrate.ts';
import { createPartitions } from './partitions.ts';
import { keepsPreparedStatements } from './pooling.ts';
import { type Reached, reachDatabase, refuseSharedSessions } from './reach.ts';
import { checkSecretKey } from './secret-key.ts';

const CONNECT_MS = 5_000;

type Settings = Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'preparedStatements' | 'secretKey' | 'previousSecretKey'>;

/**
 * Waits for the database, detects how to connect to it, and migrates its schema.
 * @param embeddedUrl the embedded PostgreSQL, when DATABASE_URL is not set
 * @throws StartError when it cannot be used with these settings
 */
export async function prepareDatabase(settings: Settings, embeddedUrl: string | null, log: Log): Promise<DatabaseRoute> {
  const route = embeddedUrl ? await reachEmbedded(embeddedUrl, log) : await findRoute(settings, log);
  const ran = await migrate(route.directUrl, { report: (line) => log.info(line) });
  if (ran.length > 0) log.info({ migrations: ran }, 'migrated');
  await createNeededPartitions(route.directUrl, log);
  await checkSecretKey(route.directUrl, settings.secretKey, settings.previousSecretKey);
  return route;
}

/** Creates the partitions of today, which after a long pause do not exist. Without them rows go to the default partitions. */
async function createNeededPartitions(url: string, log: Log): Promise<void> {
  const client = new DatabaseClient({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_MS,
    application_name: 'emailauth-partitions',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const created = await createPartitions(client);
    if (created.length > 0) log.info({ partitions: created }, 'partitions created');
  } catch (error) {
    log.info({ err: error }, 'partitions: none could be created now; a job tries again');
  } finally {
    await client.end().catch(() => {});
  }
}

async function reachEmbedded(url: string, log: Log): Promise<DatabaseRoute> {
  await reachDatabase({ url, setting: null }, log);
  return directRoute(url);
}

async function findRoute({ databaseUrl, databaseDirectUrl, preparedStatements }: Settings, log: Log): Promise<DatabaseRoute> {
  const url = databaseUrl as string;
  const directUrl = databaseDirectUrl ?? url;
  const pooled = await reachDatabase({ url, setting: 'DATABASE_URL' }, log);
  if (databaseDirectUrl) {
    const direct = await reachDatabase({ url: directUrl, setting: 'DATABASE_DIRECT_URL' }, log);
    refuseSharedSessions({ url: directUrl, setting: 'DATABASE_DIRECT_URL' }, direct);
    if (direct.database !== pooled.database) {
      const places = `DATABASE_URL (${placeOf(url)}) and DATABASE_DIRECT_URL (${placeOf(directUrl)})`;
      throw new StartError(`${places} lead to two different databases. Give the same database of the same server in both.`);
    }
  }
  if (pooled.pooling === 'session') return { url, directUrl, sessions: true, preparedStatements };
  if (pooled.pooling === 'statement' || !databaseDirectUrl) refuseSharedSessions({ url, setting: 'DATABASE_URL' }, pooled);
  await refuseUnprepared(url, pooled, preparedStatements);
  log.info({ preparedStatements }, 'DATABASE_URL leads through a pooler in transaction mode');
  return { url, directUrl, sessions: false, preparedStatements };
}

/**
 * Refuses a pooler in transaction mode that does not keep prepared statements, or behind which the time zone is not UTC: the settings
 * of a session cannot be changed there. @throws StartError
 */
async function refuseUnprepared(url: string, { utc }: Reached, preparedStatements: boolean): Promise<void> {
  const found = `DATABASE_URL (${placeOf(url)}) leads through a pooler in transaction mode`;
  if (preparedStatements && !(await keepsPreparedStatements(url))) {
    throw new StartError(
      `${found} that does not keep prepared statements. Set DATABASE_PREPARED_STATEMENTS=off, or use PgBouncer 1.21 or later with ` +
        'max_prepared_statements above 0.',
    );
  }
  if (!utc)
    throw new StartError(`${found}, and its time zone is not UTC. Run: alter role ${new URL(url).username || '…'} set timezone = 'UTC'`);
}
