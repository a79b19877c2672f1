import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { StartError } from '../start-error.ts';
import type { Database } from './database.ts';

const OLDEST_VERSION = 14;
const PATIENCE_MS = 30_000;
const PAUSE_MS = 500;

/** SQLSTATEs at which waiting does not help: the settings are wrong. */
const FINAL = /^(?:28|3D|42|0A|0L|0P)/;

/** Waits until PostgreSQL answers, for it may start at the same time as we do. @throws StartError when it does not, or is too old */
export async function reachDatabase(database: Database, url: string, log: Log): Promise<void> {
  const { host, pathname } = new URL(url);
  const place = `${host || 'this machine'}${pathname}`;
  for (const end = Date.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
    try {
      const { rows } = await database.core.query<{ version: string }>("select current_setting('server_version_num') as version");
      const version = Math.floor(Number(rows[0].version) / 10_000);
      if (version < OLDEST_VERSION)
        throw new StartError(`PostgreSQL at ${place} is version ${version}; at least ${OLDEST_VERSION} is needed.`);
      return;
    } catch (error) {
      if (error instanceof StartError) throw error;
      const { code = '', message } = error as NodeJS.ErrnoException;
      if (FINAL.test(code) || Date.now() > end)
        throw new StartError(`PostgreSQL at ${place} cannot be used: ${message || code}. Check DATABASE_URL.`, { cause: error });
      log.info({ code, place }, 'waiting for PostgreSQL');
    }
  }
}
