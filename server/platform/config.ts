import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RATE_LIMITS } from '../../contract/rate-limits.ts';
import { isThisMachine } from '../../contract/urls.ts';
import { keptSecret, SecretKeys } from './secrets.ts';
import { domainOf, isReservedDomain, type Mailbox, parseSender } from './sender.ts';
import { type LOG_LEVELS, MIN_ADMIN_PASSWORD_LENGTH, SENDER_REMEDY, type Settings, settings } from './settings.ts';
import { ConfigError, StartError } from './start-error.ts';

/** The settings of the operator, parsed and checked. */
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
  /** Connects without a pooler, for statements that need a session. Null: `databaseUrl`. */
  databaseDirectUrl: string | null;
  /** Named prepared statements may be used on `databaseUrl`. */
  preparedStatements: boolean;
  /** Absolute path. */
  dataDir: string;
  /** Null: the built-in inbox, in local mode only. */
  smtpUrl: string | null;
  /** `Name <address>`. */
  mailFrom: Mailbox;
  dkim: { domainName: string; keySelector: string; privateKey: string } | null;
  /** Null: /iladmin is disabled. */
  adminPassword: string | null;
  /** At least 32 bytes. */
  secretKey: Buffer;
  /** The SECRET_KEY before a rotation, accepted for what was made with it. */
  previousSecretKey: Buffer | null;
  /** Number of proxies in front. */
  trustProxy: number;
  /** Emails that one network address may request in an hour, in production. */
  mailsPerNetwork: number;
  workers: number;
  /** How long /readyz responds with 503 before the listener closes. */
  drainSeconds: number;
  /** How long an idle connection stays open. */
  keepAliveSeconds: number;
  logLevel: (typeof LOG_LEVELS)[number];
  /** A proxy is in front, because PUBLIC_URL is https or TRUST_PROXY is set: connections from this machine can carry requests of anyone. */
  behindProxy: boolean;
  /** Null: only programs on this machine can read /metrics, and none when a proxy is in front. */
  metricsToken: string | null;
  /** Whether the rows of the audit log are printed to stdout. */
  printsAuditLog: boolean;
  /** How many days rows are kept, and where those of the audit log are written to before they are dropped (null: nowhere). */
  retention: { auditDays: number; attemptDays: number; tokenDays: number; exportDir: string | null };
  /** The Email Verification Protocol as a relying party. Null: off. `originTrialToken`: for Chrome; null: none. */
  evp: { originTrialToken: string | null } | null;
  /** The RP ID of passkeys (null: the host of PUBLIC_URL), and the other origins that may use those of this host. */
  passkeys: { rpId: string | null; origins: string[] };
  /** Origins whose pages may call /mcp and register OAuth clients. Null: all. */
  mcpOrigins: string[] | null;
  /** DNS servers for domain proofs and the Email Verification Protocol, as `ip` or `ip:port`. Null: the system's. */
  dnsServers: string[] | null;
  /** S3-compatible bucket for icons. Null: they are stored in `dataDir`. */
  bucket: { endpoint: string; name: string; region: string; accessKeyId: string; secretAccessKey: string } | null;
};

const PRODUCTION_DRAIN_SECONDS = 5;
/** Longer than the 60 s of common load balancers: the balancer then closes idle connections, and no request meets a closed one. */
const KEEP_ALIVE_SECONDS = 65;
/** The file in DATA_DIR with the generated SECRET_KEY. */
const SECRET_KEY_FILE = 'secret-key';

/** Settings that are given together or not at all. */
const DKIM = ['DKIM_DOMAIN', 'DKIM_SELECTOR', 'DKIM_KEY'] as const;
const BUCKET = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_REGION', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const;

type Env = Record<string, string | undefined>;

/** The settings without the secrets that the service may generate. */
export type Deployment = Omit<Config, 'adminPassword' | 'secretKey' | 'previousSecretKey'>;

/**
 * Reads the settings. Missing secrets that the service may generate are generated and stored in DATA_DIR.
 * @throws ConfigError with every fault at once
 */
export function readConfig(env: Env): Config {
  const { values, deployment } = examine(env);
  const { mode, dataDir } = deployment;
  return {
    ...deployment,
    adminPassword: values.ADMIN_PASSWORD ?? (mode === 'production' ? null : kept(dataDir, 'admin-password', 18)),
    ...secretKeysOf(values, dataDir),
  };
}

/** Reads the settings for an operator's command; generates no secret. @throws ConfigError with every fault at once */
export function readDeployment(env: Env): Deployment {
  return examine(env).deployment;
}

function examine(env: Env): { values: Settings; deployment: Deployment } {
  const { values, faults } = parse(env);
  const basics = basicsOf(values);
  const { publicUrl, production, mailFrom } = basics;
  faults.push(...(production ? productionFaults(env, values, basics) : localFaults(env, values, basics)));
  faults.push(...databaseFaults(env), ...[DKIM, BUCKET].flatMap((names) => incompleteFaults(env, names)));
  if (faults.length > 0) throw new ConfigError(faults);

  const { DKIM_DOMAIN: domainName, DKIM_SELECTOR: keySelector, DKIM_KEY: privateKey } = values;
  const deployment: Deployment = {
    mode: production ? 'production' : 'local',
    host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: basics.port,
    publicUrl,
    secure: publicUrl.startsWith('https:'),
    ...storageOf(values),
    preparedStatements: values.DATABASE_PREPARED_STATEMENTS !== 'off',
    smtpUrl: values.SMTP_URL ?? null,
    mailFrom,
    dkim: domainName && keySelector && privateKey ? { domainName, keySelector, privateKey } : null,
    trustProxy: values.TRUST_PROXY ?? 0,
    behindProxy: basics.behindProxy,
    mailsPerNetwork: values.MAILS_PER_NETWORK ?? RATE_LIMITS.mails_from_network.points,
    workers: values.WORKERS ?? 1,
    drainSeconds: values.DRAIN_SECONDS ?? (production ? PRODUCTION_DRAIN_SECONDS : 0),
    keepAliveSeconds: values.KEEP_ALIVE_SECONDS ?? KEEP_ALIVE_SECONDS,
    logLevel: values.LOG_LEVEL ?? 'info',
    metricsToken: values.METRICS_TOKEN ?? null,
    printsAuditLog: values.AUDIT_LOG === 'stdout',
    retention: retentionOf(values),
    evp: (values.EVP ?? (production ? 'off' : 'on')) === 'on' ? { originTrialToken: values.EVP_ORIGIN_TRIAL_TOKEN ?? null } : null,
    passkeys: { rpId: values.PASSKEY_RP_ID ?? null, origins: values.PASSKEY_ORIGINS ?? [] },
    mcpOrigins: values.MCP_ORIGINS ?? (production ? null : []),
    dnsServers: values.DNS_SERVERS ?? null,
  };
  return { values, deployment };
}

/** The settings on which others depend. */
function basicsOf(values: Settings) {
  const port = values.PORT ?? 4400;
  const publicUrl = values.PUBLIC_URL ?? `http://localhost:${port}`;
  const { protocol, hostname } = new URL(publicUrl);
  return {
    port,
    publicUrl,
    hostname,
    production: values.NODE_ENV === 'production' || !isThisMachine(hostname),
    behindProxy: protocol === 'https:' || (values.TRUST_PROXY ?? 0) > 0,
    mailFrom: values.MAIL_FROM ?? defaultSender(hostname),
  };
}

/** Returns the sender at the host of PUBLIC_URL, or at localhost when that host cannot be part of an address. */
function defaultSender(hostname: string): Mailbox {
  const name = 'Email Auth';
  const sender = parseSender(`${name} <no-reply@${hostname}>`);
  return typeof sender === 'object' ? sender : { name, address: 'no-reply@localhost' };
}

type Basics = ReturnType<typeof basicsOf>;

function productionFaults(env: Env, values: Settings, { publicUrl, hostname, mailFrom }: Basics): string[] {
  const faults: string[] = [];
  const { ADMIN_PASSWORD } = values;
  if (isUnset(env, 'SMTP_URL')) faults.push('SMTP_URL is missing: production needs a mail server; give smtp://user:password@host:587.');
  if (values.DATABASE_URL && isUnset(env, 'SECRET_KEY'))
    faults.push('SECRET_KEY is missing: with DATABASE_URL all instances share one; give the output of `openssl rand -base64 48`.');
  if (ADMIN_PASSWORD && ADMIN_PASSWORD.length < MIN_ADMIN_PASSWORD_LENGTH)
    faults.push(`ADMIN_PASSWORD is too short: give at least ${MIN_ADMIN_PASSWORD_LENGTH} characters, or none to disable /iladmin.`);
  if (publicUrl.startsWith('http:') && !isThisMachine(hostname))
    faults.push('PUBLIC_URL is http: sign-in cookies need TLS; give the https address that your proxy serves.');
  if (isReservedDomain(domainOf(mailFrom))) {
    if (isUnset(env, 'MAIL_FROM')) faults.push(`MAIL_FROM is missing: no email can come from ${hostname}; ${SENDER_REMEDY}.`);
    else if (values.MAIL_FROM)
      faults.push(`MAIL_FROM is not valid: ${domainOf(mailFrom)} is reserved for tests (RFC 2606, RFC 6761); ${SENDER_REMEDY}.`);
  }
  return faults;
}

function localFaults(env: Env, values: Settings, { behindProxy }: Basics): string[] {
  if (!isUnset(env, 'SMTP_URL')) return [];
  const faults: string[] = [];
  if ((values.WORKERS ?? 1) > 1)
    faults.push('WORKERS is more than 1: the built-in inbox works in one process only; give SMTP_URL, or leave WORKERS at 1.');
  if (behindProxy) {
    const reason = 'through a proxy (https PUBLIC_URL, or TRUST_PROXY) anyone could read the built-in inbox';
    faults.push(`SMTP_URL is missing: ${reason}; give smtp://user:password@host:587.`);
  }
  return faults;
}

/** Returns a fault if some of the settings that belong together are missing. */
function incompleteFaults(env: Env, names: readonly (keyof Settings)[]): string[] {
  const missing = names.filter((name) => isUnset(env, name));
  if (missing.length === 0 || missing.length === names.length) return [];
  return [`${missing.join(' and ')} missing: give ${names.slice(0, -1).join(', ')} and ${names.at(-1)} together, or none of them.`];
}

/**
 * Reads SECRET_KEY and SECRET_KEY_PREVIOUS for an operator's command; generates no key.
 * @throws ConfigError when there is no key, or an invalid one
 */
export function readSecretKeys(env: Env): SecretKeys {
  const { values, faults } = parse(env, ['SECRET_KEY', 'SECRET_KEY_PREVIOUS', 'DATA_DIR']);
  const { dataDir } = storageOf(values);
  if (faults.length === 0 && !values.SECRET_KEY && !existsSync(join(dataDir, SECRET_KEY_FILE)))
    faults.push(`SECRET_KEY is missing: give that of the service; it is not in ${dataDir} either.`);
  if (faults.length > 0) throw new ConfigError(faults);
  const { secretKey, previousSecretKey } = secretKeysOf(values, dataDir);
  return new SecretKeys(secretKey, previousSecretKey);
}

function secretKeysOf(values: Settings, dataDir: string): Pick<Config, 'secretKey' | 'previousSecretKey'> {
  const { SECRET_KEY: current = kept(dataDir, SECRET_KEY_FILE, 48), SECRET_KEY_PREVIOUS: previous } = values;
  return { secretKey: Buffer.from(current), previousSecretKey: previous && previous !== current ? Buffer.from(previous) : null };
}

/**
 * Reads the settings of `emailauth db partitions`: how long rows are kept, and whether the audit log is printed.
 * @throws ConfigError with every fault at once
 */
export function readRetention(env: Env): Pick<Config, 'retention' | 'printsAuditLog'> {
  const { values, faults } = parse(env, [
    'RETENTION_AUDIT_DAYS',
    'RETENTION_ATTEMPT_DAYS',
    'RETENTION_TOKEN_DAYS',
    'RETENTION_EXPORT_DIR',
    'AUDIT_LOG',
  ]);
  if (faults.length > 0) throw new ConfigError(faults);
  return { retention: retentionOf(values), printsAuditLog: values.AUDIT_LOG === 'stdout' };
}

const retentionOf = (values: Settings): Config['retention'] => ({
  auditDays: values.RETENTION_AUDIT_DAYS ?? 400,
  attemptDays: values.RETENTION_ATTEMPT_DAYS ?? 1,
  tokenDays: values.RETENTION_TOKEN_DAYS ?? 1,
  exportDir: values.RETENTION_EXPORT_DIR ?? null,
});

/** Where the service stores its data: the settings that the operator's commands need. */
export type StorageConfig = Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'dataDir' | 'bucket'>;

/** Reads only these settings, so that it works where others are missing, and generates no secret. @throws ConfigError with every fault at once */
export function readStorageConfig(env: Env): StorageConfig {
  const { values, faults } = parse(env, ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATA_DIR', ...BUCKET]);
  faults.push(...databaseFaults(env), ...incompleteFaults(env, BUCKET));
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

function databaseFaults(env: Env): string[] {
  if (!isUnset(env, 'DATABASE_URL') || isUnset(env, 'DATABASE_DIRECT_URL')) return [];
  return ['DATABASE_URL is missing: DATABASE_DIRECT_URL is another address of the same database; give both, or neither.'];
}

const isUnset = (env: Env, name: keyof Settings) => !env[name]?.trim();

function parse(env: Env, names = Object.keys(settings) as readonly (keyof Settings)[]): { values: Settings; faults: string[] } {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const name of names) {
    const text = env[name]?.trim();
    if (!text) continue;
    if (isQuoted(text)) {
      faults.push(`${name} is in quotes, which are part of the value: give it without them, as in a file for docker --env-file.`);
      continue;
    }
    const parsed = settings[name].safeParse(text);
    if (parsed.success) values[name] = parsed.data;
    // The value is not repeated: it may be a secret.
    else faults.push(`${name} is not valid: ${parsed.error.issues[0].message}.`);
  }
  return { values, faults };
}

/** Whether a value has the quotes that a shell would have removed. */
const isQuoted = (text: string) => /^(?:".*"|'.*')$/s.test(text);

/** @throws ConfigError, StartError when DATA_DIR cannot be used */
function kept(dataDir: string, name: string, bytes: number): string {
  try {
    return keptSecret(dataDir, name, bytes);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new ConfigError([`DATA_DIR cannot be used (${(error as Error).message}): give a directory that this user may write to.`]);
  }
}

/** Returns whether the development calls exist. Behind a proxy, requests from this machine can come from anyone. */
export function isDevelopment(config: Config): boolean {
  return config.mode === 'local' && !config.behindProxy;
}
