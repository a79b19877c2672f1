import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { type Host, hasSeveralHosts, hostsOf, withHost } from './hosts.ts';

/** An SQL expression: why the server accepts no writes, null when it accepts them. Evaluating it writes nothing. */
export const READ_ONLY_CAUSE = `case when pg_is_in_recovery() then 'standby'
  when current_setting('transaction_read_only') = 'on' then 'default_transaction_read_only' end`;

/** The values of READ_ONLY_CAUSE. */
export type ReadOnlyCause = 'standby' | 'default_transaction_read_only';

/** Less than any time-out of a connection, so that a host that does not respond does not use it up. */
const PROBE_MS = 1_000;
/** How long the connections of a pool share a result. */
const CACHE_MS = 500;

/** A connection to PostgreSQL. With several hosts in its URL, it is opened to the one that accepts writes. */
export class DatabaseClient extends pg.Client {
  readonly #url: string;

  /** @param config with `connectionString`, a URL of `normalizeUrl` */
  constructor(config: pg.ClientConfig = {}) {
    const { connectionString = '' } = config;
    super({ ...config, connectionString: firstHostOf(connectionString) });
    this.#url = connectionString;
  }

  override connect(): Promise<this>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
    const connected = this.#connect();
    if (!callback) return connected;
    connected.then(() => callback(null), callback);
  }

  async #connect(): Promise<this> {
    if (hasSeveralHosts(this.#url)) {
      const { host, port } = await findWritable(this.#url);
      Object.assign(this, { host, port: Number(port) });
    }
    await super.connect();
    return this;
  }
}

/** Returns a URL with one host, for what only stores it. */
export function firstHostOf(url: string): string {
  return hasSeveralHosts(url) ? withHost(url, (hostsOf(url) as Host[])[0]) : url;
}

class ReadOnlyHost extends Error {
  readonly host: Host;

  constructor(host: Host) {
    super(`${host.host}:${host.port} is read-only`);
    this.host = host;
  }
}

/**
 * Returns the first host to report that it accepts writes. If none does, one that is read-only, so that its statements tell the cause.
 * @throws the error of the first host when none responds
 */
export async function findWritable(url: string): Promise<Host> {
  return (await searches.fetch(url)) as Host;
}

const searches = new LRUCache<string, Host>({ max: 16, ttl: CACHE_MS, fetchMethod: search });

async function search(url: string): Promise<Host> {
  const hosts = hostsOf(url) as Host[];
  try {
    return await Promise.any(hosts.map((host) => requireWrites(url, host)));
  } catch (error) {
    const { errors } = error as AggregateError;
    const readOnly = errors.find((cause) => cause instanceof ReadOnlyHost);
    if (readOnly) return readOnly.host;
    throw errors[0];
  }
}

async function requireWrites(url: string, host: Host): Promise<Host> {
  const client = new pg.Client({
    connectionString: withHost(url, host),
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'emailauth-probe',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ cause: ReadOnlyCause | null }>(`select ${READ_ONLY_CAUSE} as cause`);
    if (rows[0].cause) throw new ReadOnlyHost(host);
    return host;
  } finally {
    void client.end().catch(() => {});
  }
}
