import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { keptSecret } from './kept-secrets.ts';
import { isOrigin, isPostgresUrl, isRsaKey, isSender, isServerAddress, readPem } from './setting-formats.ts';
import { StartError } from './start-error.ts';

/** Everything that the operator can set, parsed and checked. */
export type Config = {
  /** `production`: NODE_ENV is production, or PUBLIC_URL's host is not loopback. */
  mode: 'production' | 'local';
  host: string;
  port: number;
  /** Origin without a trailing slash, such as `https://auth.example.com`. */
  publicUrl: string;
  /** PUBLIC_URL is https. */
  secure: boolean;
  /** Null: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null;
  /** Past a pooler, for what needs a session of its own. Null: `databaseUrl`. */
  databaseDirectUrl: string | null;
  /** Named prepared statements may be used on `databaseUrl`. */
  preparedStatements: boolean;
  /** Absolute path. */
  dataDir: string;
  /** Null: the built-in inbox, in local mode only. */
  smtpUrl: string | null;
  /** `Name <address>`. */
  mailFrom: string;
  dkim: { domainName: string; keySelector: string; privateKey: string } | null;
  /** Null: /iladmin is disabled. */
  adminPassword: string | null;
  /** At least 32 bytes. */
  secretKey: Buffer;
  /** Number of proxies in front. */
  trustProxy: number;
  workers: number;
  /** How long /readyz says 503 before the listener closes. */
  drainSeconds: number;
  logLevel: (typeof LOG_LEVELS)[number];
  /** A proxy stands in front, as PUBLIC_URL is https or TRUST_PROXY says so: what comes from this machine may be anybody's. */
  behindProxy: boolean;
  /** Null: /metrics answers programs on this machine, and nobody behind a proxy. */
  metricsToken: string | null;
  /** Resolvers for the domain proofs, as `ip` or `ip:port`. Null: the system's. */
  dnsServers: string[] | null;
  /** S3-compatible bucket for icons. Null: they lie in `dataDir`. */
  bucket: { endpoint: string; name: string; region: string; accessKeyId: string; secretAccessKey: string } | null;
};

/** What is wrong with the settings, all of it, each with its remedy. */
export class ConfigError extends StartError {
  override name = 'ConfigError';
  /** The command line's code for input that is not valid. */
  override readonly exitCode = 3;
  readonly faults: string[];

  constructor(faults: string[]) {
    const title = faults.length === 1 ? 'One setting needs a change' : `${faults.length} settings need a change`;
    super(`${title}; nothing was started.\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
const SECRET_KEY_BYTES = 32;
const ADMIN_PASSWORD_LENGTH = 15;
const DRAIN_SECONDS = 5;

const wholeNumber = (least: number, most: number) => {
  const remedy = `give a whole number from ${least} to ${most}`;
  return z.string().regex(/^\d+$/, remedy).transform(Number).pipe(z.number().min(least, remedy).max(most, remedy));
};
const refined = (accepts: (text: string) => boolean, remedy: string) => z.string().refine(accepts, { error: remedy });
const printable = refined((text) => /^[\x21-\x7e]+$/.test(text), 'give printable characters without spaces');
const postgresUrl = refined(isPostgresUrl, 'give postgres://user:password@host:port/database');

/** Every setting by name: its shape, and what it means when unset. An empty value counts as unset. */
export const settings = {
  NODE_ENV: z.string().describe('`production` switches to production mode · unset: PUBLIC_URL decides'),
  PORT: wholeNumber(1, 65_535).describe('port to listen on · unset: 3000'),
  HOST: refined((text) => /^[A-Za-z0-9.:-]+$/.test(text), 'give an address of this machine, such as 127.0.0.1 or 0.0.0.0').describe(
    'address to listen on · unset: 127.0.0.1 in local mode, else 0.0.0.0',
  ),
  PUBLIC_URL: refined(isOrigin, 'give scheme and host only, such as https://auth.example.com')
    .transform((text) => new URL(text).origin)
    .describe('where browsers reach the service; mail links start with it · unset: http://localhost:PORT'),
  DATABASE_URL: postgresUrl.describe('any PostgreSQL from 14 on · unset: the embedded one in DATA_DIR'),
  DATABASE_DIRECT_URL: postgresUrl.describe('the same database past a pooler: for LISTEN, locks and migrations · unset: DATABASE_URL'),
  DATABASE_PREPARED_STATEMENTS: z
    .enum(['on', 'off'], { error: 'give on or off' })
    .describe('off for a pooler in transaction mode that does not keep prepared statements · unset: on'),
  DATA_DIR: z
    .string()
    .transform((text) => resolve(text))
    .describe('where the embedded PostgreSQL and the secrets made by the service lie · unset: ./data'),
  SMTP_URL: refined(
    (text) => /^smtps?:\/\/[^/]/.test(text) && URL.canParse(text),
    'give smtp://user:password@host:587, or smtps://… for TLS from the first byte',
  ).describe('the mail server to hand mails to · unset: the built-in inbox, in local mode only'),
  MAIL_FROM: refined(isSender, 'give one address, such as Email Auth <no-reply@example.com>').describe(
    "the sender of every mail · unset: Email Auth <no-reply@PUBLIC_URL's host>",
  ),
  DKIM_DOMAIN: refined((text) => /^[a-z0-9.-]+$/i.test(text), 'give a domain, such as example.com').describe(
    'domain of the DKIM signature (RFC 6376) · unset: mails are not signed here',
  ),
  DKIM_SELECTOR: refined((text) => /^[a-z0-9._-]+$/i.test(text), 'give the selector of the DNS record, such as mail').describe(
    'selector of the DKIM key',
  ),
  DKIM_KEY: z
    .string()
    .transform(readPem)
    .refine(isRsaKey, { error: 'give an RSA private key as PEM, or the path of a file that holds one' })
    .describe('RSA private key, as PEM (\\n for line ends is fine) or the path of a PEM file'),
  ADMIN_PASSWORD: z
    .string()
    .describe(
      `password of /iladmin, at least ${ADMIN_PASSWORD_LENGTH} characters · unset: disabled; in local mode one is made and printed`,
    ),
  SECRET_KEY: refined(
    (text) => Buffer.byteLength(text) >= SECRET_KEY_BYTES,
    `give at least ${SECRET_KEY_BYTES} bytes, such as what \`openssl rand -base64 48\` prints`,
  ).describe('what mailed links and codes are derived from; the same for all instances · unset: made and kept in DATA_DIR'),
  TRUST_PROXY: wholeNumber(0, 16).describe('number of proxies in front that add to X-Forwarded-For · unset: 0'),
  WORKERS: wholeNumber(1, 128).describe('processes that serve; more than 1 for more cores · unset: 1'),
  DRAIN_SECONDS: wholeNumber(0, 300).describe(
    'how long /readyz answers 503 before the listener closes · unset: 5 in production, 0 in local mode',
  ),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `give one of ${LOG_LEVELS.join(', ')}` }).describe('least level that is logged · unset: info'),
  METRICS_TOKEN: printable.describe('bearer token of /metrics · unset: it answers programs on this machine, and nobody behind a proxy'),
  DNS_SERVERS: z
    .string()
    .transform((text) => text.split(',').map((server) => server.trim()))
    .refine((servers) => servers.every(isServerAddress), { error: 'give addresses such as 9.9.9.9 or 127.0.0.1:5353, separated by commas' })
    .describe("resolvers for the domain proofs · unset: the system's"),
  S3_ENDPOINT: refined(isOrigin, 'give scheme and host only, such as https://s3.eu-central-1.amazonaws.com')
    .transform((text) => new URL(text).origin)
    .describe('S3-compatible server for uploaded icons, addressed path-style · unset: they lie in DATA_DIR/uploads'),
  S3_BUCKET: refined(
    (text) => /^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$/i.test(text),
    'give the name of a bucket, such as emailauth-icons',
  ).describe('its bucket'),
  S3_REGION: refined(
    (text) => /^[a-z0-9-]+$/i.test(text),
    'give a region, such as eu-central-1; many servers take us-east-1 or auto',
  ).describe('its region, as the signature names it'),
  S3_ACCESS_KEY_ID: printable.describe('a key that may put, get and delete objects of the bucket'),
  S3_SECRET_ACCESS_KEY: printable.describe('its secret'),
};

type Settings = { [Name in keyof typeof settings]?: z.output<(typeof settings)[Name]> };

/**
 * Reads the settings. Secrets that may be made by the service are made now and kept in DATA_DIR.
 * @throws ConfigError with every fault at once
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const { values, faults } = parse(env, settings);
  const port = values.PORT ?? 3000;
  const publicUrl = values.PUBLIC_URL ?? `http://localhost:${port}`;
  const { protocol, hostname } = new URL(publicUrl);
  const production = values.NODE_ENV === 'production' || !isLoopback(hostname);
  const unset = (name: keyof Settings) => !env[name]?.trim();

  if (production) {
    if (unset('SMTP_URL')) faults.push('SMTP_URL is missing: production needs a mail server; give smtp://user:password@host:587.');
    if (values.DATABASE_URL && unset('SECRET_KEY'))
      faults.push('SECRET_KEY is missing: with DATABASE_URL all instances share one; give what `openssl rand -base64 48` prints.');
    if (values.ADMIN_PASSWORD && values.ADMIN_PASSWORD.length < ADMIN_PASSWORD_LENGTH)
      faults.push(`ADMIN_PASSWORD is too short: give at least ${ADMIN_PASSWORD_LENGTH} characters, or none to disable /iladmin.`);
    if (protocol === 'http:' && !isLoopback(hostname))
      faults.push('PUBLIC_URL is http: sign-in cookies need TLS; give the https address that your proxy serves.');
  }
  if ((values.WORKERS ?? 1) > 1 && unset('SMTP_URL') && !production)
    faults.push('WORKERS is more than 1: the built-in inbox lives in one process; give SMTP_URL, or leave WORKERS at 1.');
  const behindProxy = protocol === 'https:' || (values.TRUST_PROXY ?? 0) > 0;
  if (behindProxy && unset('SMTP_URL') && !production)
    faults.push('SMTP_URL is missing: through a proxy (https PUBLIC_URL, or TRUST_PROXY) anybody could read the built-in inbox; give it.');
  const dkimNames = ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_KEY'] as const;
  const dkimMissing = dkimNames.filter(unset);
  if (dkimMissing.length === 1 || dkimMissing.length === 2)
    faults.push(`${dkimMissing.join(' and ')} missing: give DKIM_DOMAIN, DKIM_SELECTOR and DKIM_KEY together, or none of them.`);
  faults.push(...databaseFaults(env), ...bucketFaults(env));
  const mailFrom = values.MAIL_FROM ?? `Email Auth <no-reply@${hostname}>`;
  if (production && unset('MAIL_FROM') && !isSender(mailFrom) && !isLoopback(hostname))
    faults.push(`MAIL_FROM is missing: ${hostname} cannot stand in an address; give Email Auth <no-reply@example.com>.`);
  if (faults.length > 0) throw new ConfigError(faults);

  const { databaseUrl, databaseDirectUrl, dataDir, bucket } = storageOf(values);
  const { DKIM_DOMAIN: domainName, DKIM_SELECTOR: keySelector, DKIM_KEY: privateKey } = values;
  return {
    mode: production ? 'production' : 'local',
    host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port,
    publicUrl,
    secure: protocol === 'https:',
    databaseUrl,
    databaseDirectUrl,
    preparedStatements: values.DATABASE_PREPARED_STATEMENTS !== 'off',
    dataDir,
    smtpUrl: values.SMTP_URL ?? null,
    mailFrom,
    dkim: domainName && keySelector && privateKey ? { domainName, keySelector, privateKey } : null,
    adminPassword: values.ADMIN_PASSWORD ?? (production ? null : kept(dataDir, 'admin-password', 18)),
    secretKey: Buffer.from(values.SECRET_KEY ?? kept(dataDir, 'secret-key', 48)),
    trustProxy: values.TRUST_PROXY ?? 0,
    behindProxy,
    workers: values.WORKERS ?? 1,
    drainSeconds: values.DRAIN_SECONDS ?? (production ? DRAIN_SECONDS : 0),
    logLevel: values.LOG_LEVEL ?? 'info',
    metricsToken: values.METRICS_TOKEN ?? null,
    dnsServers: values.DNS_SERVERS ?? null,
    bucket,
  };
}

/** Where everything lies that the service keeps: what the operator's commands need to know of it. */
export type StorageConfig = Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'dataDir' | 'bucket'>;

/** Reads no other settings, so that it also works where the rest is not set, and makes no secret. @throws ConfigError with every fault at once */
export function readStorageConfig(env: Record<string, string | undefined>): StorageConfig {
  const { DATABASE_URL, DATABASE_DIRECT_URL, DATA_DIR } = settings;
  const { S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = settings;
  const bucket = { S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY };
  const { values, faults } = parse(env, { DATABASE_URL, DATABASE_DIRECT_URL, DATA_DIR, ...bucket });
  faults.push(...databaseFaults(env), ...bucketFaults(env));
  if (faults.length > 0) throw new ConfigError(faults);
  return storageOf(values);
}

function storageOf(values: Settings): StorageConfig {
  const { S3_ENDPOINT, S3_BUCKET, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = values;
  const complete = S3_ENDPOINT && S3_BUCKET && S3_REGION && S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY;
  return {
    databaseUrl: values.DATABASE_URL ?? null,
    databaseDirectUrl: values.DATABASE_DIRECT_URL ?? null,
    dataDir: values.DATA_DIR ?? resolve('data'),
    bucket: complete
      ? { endpoint: S3_ENDPOINT, name: S3_BUCKET, region: S3_REGION, accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY }
      : null,
  };
}

function databaseFaults(env: Record<string, string | undefined>): string[] {
  if (!env.DATABASE_DIRECT_URL?.trim() || env.DATABASE_URL?.trim()) return [];
  return ['DATABASE_URL is missing: DATABASE_DIRECT_URL is a second way to the same database; give both, or neither.'];
}

function bucketFaults(env: Record<string, string | undefined>): string[] {
  const names = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];
  const missing = names.filter((name) => !env[name]?.trim());
  if (missing.length === 0 || missing.length === names.length) return [];
  return [`${missing.join(' and ')} missing: give all five S3_ settings together, or none of them.`];
}

/** Whether a host of a URL means this machine: localhost and its subdomains (RFC 6761), 127.0.0.0/8, ::1. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function parse(env: Record<string, string | undefined>, shapes: Partial<typeof settings>): { values: Settings; faults: string[] } {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, shape] of Object.entries(shapes)) {
    const text = env[name]?.trim();
    if (!text) continue;
    const parsed = shape.safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    // The value is not repeated: it may be a secret.
    else faults.push(`${name} is not valid: ${parsed.error.issues[0].message}.`);
  }
  return { values, faults };
}

function kept(dataDir: string, name: string, bytes: number): string {
  try {
    return keptSecret(dataDir, name, bytes);
  } catch (error) {
    throw new ConfigError([`DATA_DIR cannot be used (${(error as Error).message}): give a directory that this user may write to.`]);
  }
}
