import { Transform } from 'node:stream';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openJobsPool } from '../../server/operations/jobs/store.ts';
import { openDatabase } from '../../server/platform/db/database.ts';
import { createDatabase, query } from '../support/postgres.ts';
import { openRelay, throughRelay } from '../support/relay.ts';
import { waitUntil } from '../support/waiting.ts';

/** ReadyForQuery in an idle session (PostgreSQL documentation, 54.7), the last message of a start-up. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Returns a stream that holds the end of a start-up back, and sends it in one piece with all that follows once the server has closed. */
function holdStartup(): Transform {
  const held: Buffer[] = [];
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (held.length === 0 && !chunk.subarray(-READY.length).equals(READY)) return done(null, chunk);
      held.push(chunk);
      done();
    },
    flush: (done) => done(null, Buffer.concat(held)),
  });
}

type Opened = { run(): Promise<unknown>; close(): Promise<unknown> };

const POOLS: Record<string, (url: string) => Opened> = {
  core: (url) => {
    const database = openDatabase(url);
    return { run: () => database.core.query('select 1'), close: () => database.close() };
  },
  models: (url) => {
    const database = openDatabase(url);
    return { run: async () => (await database.orm()).sequelize.query('select 1'), close: () => database.close() };
  },
  jobs: (url) => {
    const pool = openJobsPool(url);
    return { run: () => pool.query('select 1'), close: () => pool.end() };
  },
};

const TERMINATE = `select count(pg_terminate_backend(pid, 30000))::int as ended from pg_stat_activity
  where datname = $1 and state = 'idle' and pid <> pg_backend_pid()`;

// An error that nobody listens to ends a process, and this run with it.
test.each(Object.keys(POOLS))(
  'a connection of the %s that PostgreSQL ends in the moment when it is open fails its statement and nothing else',
  async (name) => {
    const url = await createDatabase(inject('clusterUrl'));
    const relay = await openRelay(Number(new URL(url).port), { ofServer: holdStartup });
    const pool = POOLS[name](throughRelay(url, relay));
    onTestFinished(async () => {
      await pool.close();
      await relay.close();
    });
    const running = expect(pool.run()).rejects.toThrow('not queryable');
    await waitUntil('the connection is open', 30_000, async () => {
      const [{ ended }] = await query(url, TERMINATE, [new URL(url).pathname.slice(1)]);
      return ended === 1;
    });
    await running;
  },
);
