import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { settings } from './settings.ts';
import { ConfigError } from './start-error.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'emailauth-config-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const read = (env: Record<string, string> = {}) => readConfig({ DATA_DIR: dataDir, ...env });
const production = { NODE_ENV: 'production', SMTP_URL: 'smtp://mail.example:25', MAIL_FROM: 'Email Auth <no-reply@auth.example>' };

function faultsOf(env: Record<string, string>): string[] {
  try {
    read(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test.each([
  ['PASSKEY_ORIGINS', 'https://login.example.net/'],
  ['PASSKEY_ORIGINS', 'http://login.example.net'],
  ['PASSKEY_ORIGINS', 'https://192.0.2.1'],
  ['PASSKEY_ORIGINS', 'https://a.example,,https://b.example'],
  ['PASSKEY_ORIGINS', Array.from({ length: 6 }, (_, n) => `https://login-${n}.example`).join(',')],
  ['MCP_ORIGINS', 'https://inspector.example/'],
  ['MCP_ORIGINS', 'https://inspector.example/app'],
  ['MCP_ORIGINS', 'http://inspector.example'],
  ['MCP_ORIGINS', 'https://INSPECTOR.example'],
  ['MCP_ORIGINS', 'inspector.example'],
  ['MCP_ORIGINS', 'null'],
  ['MCP_ORIGINS', '*'],
  ['MCP_ORIGINS', 'https://a.example,,https://b.example'],
  ['PASSKEY_RP_ID', 'https://auth.example'],
  ['PASSKEY_RP_ID', 'Auth.Example'],
  ['PASSKEY_RP_ID', '192.0.2.1'],
  ['KEEP_ALIVE_SECONDS', '4'],
  ['NODE_ENV', 'Production'],
  ['NODE_ENV', 'prod'],
  ['DATABASE_URL', 'postgres://user:12#3@db.example/app'],
  ['DATABASE_URL', 'postgres://user:1/2@db.example/app'],
  ['SMTP_URL', 'smtp://user:12#3@mail.example:587'],
  ['SMTP_URL', 'smtp://user:12?3@mail.example:587'],
  ['SMTP_URL', 'smtp://user:1/2@mail.example:587'],
])('rejects %s=%s', (name, value) => {
  expect(faultsOf({ [name]: value })).toEqual([expect.stringContaining(name)]);
});

test.each(['"', "'"])('rejects values in %s, which docker --env-file keeps', (quote) => {
  const quoted = { NODE_ENV: `${quote}production${quote}`, PORT: `${quote}4000${quote}`, LOG_LEVEL: `${quote}info${quote}` };
  expect(faultsOf(quoted)).toEqual(Object.keys(quoted).map((name) => expect.stringContaining(`${name} is in quotes`)));
});

test('accepts an @ in the parameters of DATABASE_URL, and how long idle connections stay open', () => {
  expect(faultsOf({ DATABASE_URL: 'postgres://db.example/app?user=ann@tenant' })).toEqual([]);
  expect([read().keepAliveSeconds, read({ KEEP_ALIVE_SECONDS: '620' }).keepAliveSeconds]).toEqual([65, 620]);
});

test('reads the origins and the RP ID of passkeys', () => {
  const set = { PASSKEY_ORIGINS: 'https://login.example.net, http://localhost:4000', PASSKEY_RP_ID: 'auth.example.com' };
  expect(read(set).passkeys).toEqual({ rpId: 'auth.example.com', origins: ['https://login.example.net', 'http://localhost:4000'] });
  expect(read().passkeys).toEqual({ rpId: null, origins: [] });
});

test('reads the origins whose pages may call /mcp', () => {
  const set = { MCP_ORIGINS: 'https://inspector.example, http://localhost:6274,http://127.0.0.1:6274' };
  expect(read(set).mcpOrigins).toEqual(['https://inspector.example', 'http://localhost:6274', 'http://127.0.0.1:6274']);
  expect(read().mcpOrigins).toEqual([]);
  expect(read(production).mcpOrigins).toBeNull();
  expect(read({ ...production, ...set }).mcpOrigins).toHaveLength(3);
});

test('starts in local mode without settings', () => {
  expect(read()).toMatchObject({
    mode: 'local',
    host: '127.0.0.1',
    port: 4400,
    publicUrl: 'http://localhost:4400',
    secure: false,
    databaseUrl: null,
    databaseDirectUrl: null,
    preparedStatements: true,
    smtpUrl: null,
    mailFrom: { name: 'Email Auth', address: 'no-reply@localhost' },
    dkim: null,
    trustProxy: 0,
    mailsPerNetwork: 30,
    workers: 1,
    logLevel: 'info',
    metricsToken: null,
    printsAuditLog: false,
    dnsServers: null,
    bucket: null,
  });
});

test('local mode generates its secrets once, in files that only its user can read', () => {
  const first = read();
  const second = read();
  expect(second.secretKey).toEqual(first.secretKey);
  expect(second.adminPassword).toBe(first.adminPassword);
  expect(first.secretKey.length).toBeGreaterThanOrEqual(32);
  expect(first.adminPassword?.length).toBeGreaterThanOrEqual(15);
  for (const name of ['secret-key', 'admin-password']) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dataDir, 'secret-key'), 'utf8').trim()).toBe(first.secretKey.toString());
});

test.each([
  [{ NODE_ENV: 'production' }, 'production'],
  [{ PUBLIC_URL: 'https://auth.example.com' }, 'production'],
  [{ PUBLIC_URL: 'https://localhost.example.com' }, 'production'],
  [{ PUBLIC_URL: 'http://127.0.0.1:4000' }, 'local'],
  [{ PUBLIC_URL: 'http://[::1]:4000' }, 'local'],
  [{ PUBLIC_URL: 'http://auth.localhost:4000' }, 'local'],
  [{ NODE_ENV: 'test' }, 'local'],
])('%o is %s', (env, mode) => {
  expect(read({ SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'no-reply@auth.example', ...env }).mode).toBe(mode);
});

test('production listens on every address and generates no admin password', () => {
  const config = read({ ...production, PUBLIC_URL: 'https://bücher.example/', MAIL_FROM: '' });
  expect(config).toMatchObject({
    host: '0.0.0.0',
    publicUrl: 'https://xn--bcher-kva.example',
    secure: true,
    adminPassword: null,
    mailFrom: { name: 'Email Auth', address: 'no-reply@xn--bcher-kva.example' },
  });
});

test('reports every fault at once, without the values', () => {
  const faults = faultsOf({
    NODE_ENV: 'production',
    PORT: '70000',
    PUBLIC_URL: 'auth.example.com/path',
    DATABASE_URL: 'mysql://root:hidden-1@db',
    ADMIN_PASSWORD: 'hidden-2',
    SECRET_KEY: 'hidden-3',
    WORKERS: '0',
    DRAIN_SECONDS: '301',
    LOG_LEVEL: 'loud',
    DNS_SERVERS: '9.9.9.9,dns.example',
    DKIM_DOMAIN: 'example.com',
    MAIL_FROM: 'O"Brien <no-reply@auth.example>',
  });
  const text = faults.join('\n');
  for (const name of [
    'PORT',
    'PUBLIC_URL',
    'DATABASE_URL',
    'ADMIN_PASSWORD',
    'SECRET_KEY',
    'WORKERS',
    'DRAIN_SECONDS',
    'LOG_LEVEL',
    'DNS_SERVERS',
    'SMTP_URL',
    'DKIM_',
    'MAIL_FROM',
  ])
    expect(text).toContain(name);
  expect(text).not.toContain('hidden');
  expect(new ConfigError(faults).message).toContain('12 settings');
});

test('the Email Verification Protocol is off in production and on in local mode by default', () => {
  expect([read(production).evp, read().evp]).toEqual([null, { originTrialToken: null }]);
});

test('drains for 5 s in production and not at all in local mode by default', () => {
  expect(read(production).drainSeconds).toBe(5);
  expect(read({}).drainSeconds).toBe(0);
  expect(read({ ...production, DRAIN_SECONDS: '0' }).drainSeconds).toBe(0);
  expect(read({ DRAIN_SECONDS: '30' }).drainSeconds).toBe(30);
});

test('SECRET_KEY is required in production with DATABASE_URL', () => {
  const shared = { ...production, DATABASE_URL: 'postgres://u:p@db/emailauth' };
  expect(faultsOf(shared).join()).toContain('SECRET_KEY is missing');
  expect(faultsOf({ ...shared, SECRET_KEY: 'x'.repeat(31) }).join()).toContain('32 bytes');
  expect(faultsOf({ ...shared, SECRET_KEY: 'x'.repeat(32) })).toEqual([]);
  expect(faultsOf(production)).toEqual([]);
});

test('DATABASE_DIRECT_URL requires DATABASE_URL', () => {
  const [url, direct] = ['postgres://u:p@pooler/emailauth', 'postgres://u:p@db/emailauth'];
  expect(faultsOf({ DATABASE_DIRECT_URL: direct }).join()).toContain('DATABASE_URL is missing');
  expect(read({ DATABASE_URL: url, DATABASE_DIRECT_URL: direct, DATABASE_PREPARED_STATEMENTS: 'off' })).toMatchObject({
    databaseUrl: url,
    databaseDirectUrl: direct,
    preparedStatements: false,
  });
  expect(faultsOf({ DATABASE_PREPARED_STATEMENTS: 'no' })).toHaveLength(1);
});

test('prints the audit log to stdout, and to nothing else', () => {
  expect(read({ AUDIT_LOG: 'stdout' }).printsAuditLog).toBe(true);
  expect(faultsOf({ AUDIT_LOG: 'syslog' })).toEqual([expect.stringContaining('give stdout, or leave it unset')]);
});

test('refuses an admin password under 15 characters in production only', () => {
  expect(faultsOf({ ...production, ADMIN_PASSWORD: 'x'.repeat(14) })).toHaveLength(1);
  expect(faultsOf({ ...production, ADMIN_PASSWORD: 'x'.repeat(15) })).toEqual([]);
  expect(read({ ADMIN_PASSWORD: 'short' }).adminPassword).toBe('short');
});

test('refuses an http PUBLIC_URL in production, except on loopback', () => {
  expect(faultsOf({ ...production, PUBLIC_URL: 'http://auth.example.com' })).toHaveLength(1);
  expect(faultsOf({ ...production, PUBLIC_URL: 'http://localhost:4400' })).toEqual([]);
});

test('local mode behind a proxy, recognized by https or TRUST_PROXY, requires a mail server', () => {
  const mails = { SMTP_URL: 'smtp://localhost:1025' };
  const settings: Record<string, string>[] = [{ PUBLIC_URL: 'https://localhost' }, { TRUST_PROXY: '1' }];
  for (const proxied of settings) {
    expect(faultsOf(proxied).join()).toContain('SMTP_URL is missing');
    expect(read({ ...proxied, ...mails }).behindProxy).toBe(true);
  }
  expect(read({ TRUST_PROXY: '0' }).behindProxy).toBe(false);
  expect(read({ ...production, PUBLIC_URL: 'https://auth.example.com' }).behindProxy).toBe(true);
});

test('reads the sender as the header has it, or says why it is refused', () => {
  expect(read({ MAIL_FROM: 'Café <No-Reply@bücher.example>' }).mailFrom).toEqual({
    name: 'Café',
    address: 'No-Reply@xn--bcher-kva.example',
  });
  expect(faultsOf({ MAIL_FROM: 'O"Brien <a@b.example>' })).toEqual([expect.stringMatching(/^MAIL_FROM is not valid: .*double quotes/)]);
});

test.each(['example.com', 'mail.example.net', 'EXAMPLE.org', 'auth.test', 'auth.invalid', 'localhost', 'auth.localhost'])(
  'production does not send from %s, which is reserved',
  (domain) => {
    const sender = `Shop <no-reply@${domain}>`;
    expect(faultsOf({ ...production, MAIL_FROM: sender })).toEqual([expect.stringContaining(`${domain.toLowerCase()} is reserved`)]);
    expect(read({ MAIL_FROM: sender }).mailFrom.address).toBe(`no-reply@${domain.toLowerCase()}`);
  },
);

test.each(['https://auth.example.com', 'http://localhost:4400', 'https://192.0.2.7', 'https://[2001:db8::7]'])(
  'production at %s needs a sender',
  (PUBLIC_URL) => {
    expect(faultsOf({ ...production, PUBLIC_URL, MAIL_FROM: '' })).toEqual([expect.stringContaining('MAIL_FROM is missing')]);
  },
);

test('the sender of a local service at an IP address is at localhost', () => {
  expect(read({ PUBLIC_URL: 'http://127.0.0.1:4400' }).mailFrom.address).toBe('no-reply@localhost');
});

test('reads the domain of the DKIM signature as A-label, and refuses what is no name of a DNS record', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const signed = { DKIM_SELECTOR: 's1.mail', DKIM_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  expect(read({ ...signed, DKIM_DOMAIN: 'Bücher.example' }).dkim?.domainName).toBe('xn--bcher-kva.example');
  for (const domain of ['example', '-.example', 'a..example', 'example.com.', '192.0.2.7', 'a b.example'])
    expect(faultsOf({ ...signed, DKIM_DOMAIN: domain }).join()).toContain('DKIM_DOMAIN is not valid');
  for (const selector of ['a..b', '.a', 'a.', '-a', 'ä', 'a;b'])
    expect(faultsOf({ ...signed, DKIM_DOMAIN: 'auth.example', DKIM_SELECTOR: selector }).join()).toContain('DKIM_SELECTOR is not valid');
});

test('accepts a DKIM key as PEM with escaped line ends', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const signed = { DKIM_DOMAIN: 'example.com', DKIM_SELECTOR: 'mail', DKIM_KEY: pem.replaceAll('\n', '\\n') };
  expect(read(signed).dkim).toEqual({ domainName: 'example.com', keySelector: 'mail', privateKey: pem.trim().concat('\n') });
  expect(faultsOf({ ...signed, DKIM_KEY: '/no/such/file' })).toHaveLength(1);
});

const bucket = {
  S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com/',
  S3_BUCKET: 'emailauth-icons',
  S3_REGION: 'eu-central-1',
  S3_ACCESS_KEY_ID: 'AKIAEXAMPLE',
  S3_SECRET_ACCESS_KEY: 'hidden/secret+key=',
};

test('requires all five settings of a bucket, or none', () => {
  expect(read(bucket).bucket).toEqual({
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    name: 'emailauth-icons',
    region: 'eu-central-1',
    accessKeyId: 'AKIAEXAMPLE',
    secretAccessKey: 'hidden/secret+key=',
  });
  for (const missing of Object.keys(bucket)) {
    const faults = faultsOf({ ...bucket, [missing]: '' });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(`${missing} missing`);
  }
});

test.each([
  ['S3_ENDPOINT', 's3.example.com'],
  ['S3_ENDPOINT', 'https://s3.example.com/bucket'],
  ['S3_ENDPOINT', 'ftp://s3.example.com'],
  ['S3_BUCKET', 'a/b'],
  ['S3_BUCKET', '../x'],
  ['S3_REGION', 'eu central'],
  ['S3_ACCESS_KEY_ID', 'a b'],
  ['S3_SECRET_ACCESS_KEY', 'hidden secret'],
])('refuses %s=%s', (name, value) => {
  const faults = faultsOf({ ...bucket, [name]: value });
  expect(faults).toHaveLength(1);
  expect(faults[0]).toContain(name);
  expect(faults[0]).not.toContain('hidden');
});

test('docs/operations.md names every setting', () => {
  const text = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  for (const name of Object.keys(settings)) expect(text).toContain(`\`${name}\``);
});
