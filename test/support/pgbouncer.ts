import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { query } from './postgres.ts';
import { freePort, waitUntil } from './waiting.ts';

const PROGRAM = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((path) => existsSync(path));

/** Whether PgBouncer is installed; without it its tests are skipped with a warning. */
export const hasPgBouncer = PROGRAM !== undefined;
if (!hasPgBouncer) console.warn('\n!! The tests with PgBouncer are skipped: on Debian, apt-get install pgbouncer\n');

/** A PgBouncer in front of a cluster. */
export type PgBouncer = {
  /** Returns the URL of a database through PgBouncer. */
  url(databaseUrl: string): string;
  stop(): Promise<void>;
};

/** Starts PgBouncer. @param settings values of pgbouncer.ini that replace the defaults */
export async function startPgBouncer(
  clusterUrl: string,
  mode: 'session' | 'transaction' | 'statement',
  settings: Record<string, string | number> = {},
): Promise<PgBouncer> {
  const home = await mkdtemp(join(tmpdir(), 'emailauth-pgbouncer-'));
  const port = await freePort();
  const { hostname, port: serverPort, username, password } = new URL(clusterUrl);
  const lines = Object.entries({
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: join(home, 'users.txt'),
    pool_mode: mode,
    max_client_conn: 1000,
    default_pool_size: 20,
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  const config = join(home, 'pgbouncer.ini');
  await writeFile(config, `[databases]\n* = host=${hostname} port=${serverPort}\n[pgbouncer]\n${lines.join('\n')}\n`);
  await writeFile(join(home, 'users.txt'), `"${username}" "${password}"\n`);
  // PgBouncer does not run as root.
  const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : undefined;
  if (owner) await chown(home, owner.uid, owner.gid);
  await chmod(home, 0o755);

  let log = '';
  const child: ChildProcess = spawn(PROGRAM as string, [config], { ...owner, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      log = (log + chunk).slice(-5000);
    });
  }
  const url = (databaseUrl: string) => Object.assign(new URL(databaseUrl), { port: String(port) }).href;
  await waitUntil('PgBouncer accepts connections', 60_000, async () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended. It wrote:\n${log}`);
    return query(url(clusterUrl), 'select 1').then(
      () => true,
      () => `its log ends with:\n${log}`,
    );
  });
  return {
    url,
    async stop() {
      const gone = once(child, 'exit');
      if (child.exitCode === null && child.kill('SIGKILL')) await gone;
      await rm(home, { recursive: true, force: true });
    },
  };
}

function idOf(flag: '-u' | '-g'): number {
  return Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
}
