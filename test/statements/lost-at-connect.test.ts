import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, inject, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../server/db/database.ts';
import { openJobsPool } from '../../server/jobs/store.ts';
import { createDatabase, query } from '../support/postgres.ts';
import { waitUntil } from '../support/waiting.ts';

/** ReadyForQuery in an idle session (PostgreSQL documentation, 54.7), the last message of a start-up. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

/** Relays connections to PostgreSQL, and holds the end of each start-up until its function in `held` sends it together with what followed. */
async function holdStartups(url: string) {
  const held: (() => void)[] = [];
  const { hostname, port } = new URL(url);
  const relay = createServer((near) => {
    const far = connect(Number(port), hostname);
    const kept: Buffer[] = [];
    far.on('data', (chunk) => {
      if (kept.length === 0 && !chunk.subarray(-READY.length).equals(READY)) return near.write(chunk);
      if (kept.push(chunk) === 1) held.push(() => near.end(Buffer.concat(kept)));
    });
    for (const socket of [near, far]) socket.on('error', () => {});
    near.on('data', (chunk) => far.write(chunk)).on('close', () => far.destroy());
  });
  onTestFinished(() => void relay.close());
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  const relayed = Object.assign(new URL(url), { port: String((relay.address() as AddressInfo).port) }).href;
  return { url: relayed, held };
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

// An error that nobody listens to ends a process, and this run with it.
test.each(Object.keys(POOLS))(
  'a connection of the %s that PostgreSQL ends in the moment when it is open fails its statement and nothing else',
  async (name) => {
    const url = await createDatabase(inject('clusterUrl'));
    const startups = await holdStartups(url);
    const pool = POOLS[name](startups.url);
    onTestFinished(() => void pool.close());
    const running = expect(pool.run()).rejects.toThrow('not queryable');
    await waitUntil('the connection is open', 30_000, () => startups.held.length === 1);
    const sql =
      'select count(pg_terminate_backend(pid, 30000))::int as ended from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()';
    expect(await query(url, sql, [new URL(url).pathname.slice(1)])).toEqual([{ ended: 1 }]);
    startups.held[0]();
    await running;
  },
);
