import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { connectionOf, firstHostOf, type Host, hasSeveralHosts, hostsOf, isTlsOptional, offersTls, withHost } from './address.ts';

/**
 * How long anything waits for PostgreSQL, in ms. A frozen one must become a 503 within 3 s: what queues up before these waits ends after 2.9 s
 * (platform/http/endpoint.ts).
 */
export const DATABASE_WAIT_MS = 2_500;

/**
 * How a session writes times, whatever the role or the database sets: the parsers of `pg` read ISO 8601 only, and the service compares
 * days in UTC.
 */
const TIME_SETTINGS = "set timezone = 'UTC'; set datestyle = 'ISO, MDY'";
/** Of every session that is kept: TIME_SETTINGS, and an idle session stays open. */
export const SESSION_SETTINGS = `${TIME_SETTINGS}; set idle_session_timeout = 0`;
/** How TIME_SETTINGS are made the default of a role, for a pooler in transaction mode, behind which no session can be set. */
export const timeSettingsOf = (role: string): string =>
  `alter role ${role} set timezone = 'UTC'; alter role ${role} set datestyle = 'ISO, MDY'`;
/** An SQL expression: whether the session has TIME_SETTINGS, in summer and winter. */
export const HAS_TIME_SETTINGS = `(current_setting('datestyle') like 'ISO%' and extract(timezone from timestamptz '2026-01-15Z') = 0
  and extract(timezone from timestamptz '2026-07-15Z') = 0)`;

/** An SQL expression: why the server accepts no writes, null when it accepts them. Evaluating it writes nothing. */
export const READ_ONLY_CAUSE = `case when pg_is_in_recovery() then 'standby'
  when current_setting('transaction_read_only') = 'on' then 'default_transaction_read_only' end`;

/** The values of READ_ONLY_CAUSE. */
export type ReadOnlyCause = 'standby' | 'default_transaction_read_only';

/** Resolves when PostgreSQL responds and accepts writes. @throws Error when it does not */
export async function requireWritable(pool: pg.Pool): Promise<void> {
  const text = `select ${READ_ONLY_CAUSE} as cause`;
  const { rows } = await pool.query<{ cause: ReadOnlyCause | null }>({ name: 'database-writable', text });
  if (rows[0].cause) throw new Error(`The server is read-only: ${rows[0].cause}`);
}

/** Less than any time-out of a connection, so that a host that does not respond does not use it up. */
const PROBE_MS = 1_000;
/** How long the connections of a pool share a result. */
const CACHE_MS = 500;

/**
 * A connection to PostgreSQL. With several hosts in its URL, it is opened to the one that accepts writes. The event `error` needs no
 * listener.
 */
export class DatabaseClient extends pg.Client {
  readonly #url: string;

  /** @param config with `connectionString`, a URL of `normalizeUrl` */
  constructor(config: pg.ClientConfig = {}) {
    const { connectionString = '', ...own } = config;
    super({ ...own, ...connectionOf(firstHostOf(connectionString)) });
    this.#url = connectionString;
    // Without a listener, an error ends the process. It can arrive together with the end of the start-up, before the caller of `connect`
    // continues. The next statement reports it.
    this.on('error', () => {});
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
    if (isTlsOptional(this.#url) && !(await offersTls(this.host, this.port))) {
      const { connection } = this as unknown as { connection: object };
      for (const part of [this, connection]) Object.assign(part, { ssl: false });
    }
    await super.connect().catch((error) => {
      // As Node.js marks it: whatever the server refuses, from a rotated password to a renamed database, it cannot be used now.
      throw Object.assign(error, { syscall: 'connect' });
    });
    return this;
  }
}

/** Closes a connection at once, also while a statement runs: the server rolls back what has not committed. */
export function disconnect(client: pg.Client): void {
  // Read at the time of use, since TLS replaces the first stream.
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } };
  connection.stream.destroy();
}

const codeOf = (error: unknown) => String(Object(error).code);
const messageOf = (error: unknown) => String(Object(error).message);

/** SQLSTATE 25006: a write on a standby, or on a server that was set read-only. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006';

/** Whether the server shut down (SQLSTATEs 57P01 to 57P03) or the connection broke (class 08), which also affects the other connections. */
export const isBroken = (error: unknown): boolean =>
  /^(?:57P0[123]|08...|ECONNRESET|EPIPE)$/.test(codeOf(error)) || messageOf(error).startsWith('Connection terminated');

/** Whether the server refuses a value of a statement (SQLSTATE class 22), such as a NUL character. */
export const isInvalid = (error: unknown): boolean => codeOf(error).startsWith('22');

/** SQLSTATE 40P01: two statements locked the same rows in different order, and the server ended this one. */
export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01';

/** Whether the client's own time-out for a response expired. */
export const isUnanswered = (error: unknown): boolean => messageOf(error) === 'Query read timeout';

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
async function findWritable(url: string): Promise<Host> {
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
  const { cause } = await probe<{ cause: ReadOnlyCause | null }>(url, host, `${READ_ONLY_CAUSE} as cause`);
  if (cause) throw new ReadOnlyHost(host);
  return host;
}

/** Evaluates expressions on one host of a URL. */
async function probe<Row extends object>(url: string, host: Host, expressions: string): Promise<Row> {
  const client = new DatabaseClient({
    connectionString: withHost(url, host),
    connectionTimeoutMillis: PROBE_MS,
    query_timeout: PROBE_MS,
    application_name: 'emailauth-probe',
  });
  try {
    await client.connect();
    return (await client.query<Row>(`select ${expressions}`)).rows[0];
  } finally {
    void client.end().catch(() => {});
  }
}
