import { existsSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CheckResult, Finding } from '../diagnostics/check.ts';
import type { Dns } from '../diagnostics/dns.ts';
import type { CheckOptions } from '../diagnostics/website.ts';
import type { Deployment } from '../server/platform/config.ts';
import type { Context } from './command.ts';
import { version } from './installation.ts';
import { importServer } from './server-package.ts';

type Parts = { config: Deployment; context: Context; dns: Dns; options: CheckOptions; backups: string | undefined };

/**
 * Checks the service that the environment has the settings of, on the machine that runs it: settings, address, proxy, database,
 * backups, disk and email. Changes nothing.
 * @param host the service in place of PUBLIC_URL; null: PUBLIC_URL
 * @param backups the directory with backups
 */
export async function checkDeployment(
  context: Context,
  { host, backups, dns, options }: { host: string | null; backups: string | undefined; dns: Dns; options: CheckOptions },
): Promise<CheckResult[]> {
  const { fail, pass, runCheck } = await import('../diagnostics/check.ts');
  const { readDeployment } = await importServer(context, 'platform/config');
  let config: Deployment | null = null;
  const settings = await runCheck({ id: 'settings', name: 'Settings', signal: context.signal }, async () => {
    try {
      config = readDeployment(context.env);
    } catch (error) {
      const { name, faults } = error as Error & { faults: string[] };
      if (name !== 'ConfigError') throw error;
      const count = faults.length === 1 ? 'One setting needs' : `${faults.length} settings need`;
      return fail(`${count} a change; the service does not start.`, faults.join(' '));
    }
    const advice = config.mode === 'production' ? '' : 'Set NODE_ENV=production, or PUBLIC_URL to the address for visitors.';
    return pass(`They are valid, for ${config.mode} mode.`, advice);
  });
  if (!config) return [settings];
  const at: Deployment = config;
  const parts = { config: host ? { ...at, publicUrl: host } : at, context, dns, options, backups };
  const groups = await Promise.all([checkService(parts), checkAddress(parts), checkDatabase(parts), checkFiles(parts), checkPtr(parts)]);
  return [settings, ...groups.flat()];
}

/** Checks the service from here: whether it is ready, reaches its mail server, and sends emails that receivers accept. */
async function checkService({ config, context, dns }: Parts): Promise<CheckResult[]> {
  const { env, signal, terminal } = context;
  const [{ openApi }, { checkClock, checkService }, { checkMail }, { fail, pass, runCheck, skip }] = await Promise.all([
    import('./api.ts'),
    import('../diagnostics/service.ts'),
    import('../diagnostics/mail.ts'),
    import('../diagnostics/check.ts'),
  ]);
  const client = await openApi({ host: config.publicUrl, env, caller: null, terminal, signal });
  const { result, probe } = await checkService({ host: config.publicUrl, client, version: version(), signal });
  const mailServer = runCheck({ id: 'mail_server', name: 'Mail server', signal }, async (signal) => {
    if (!probe) return skip('The service did not respond.');
    const mail = (await client.status({}, { signal })).components.find(({ id }) => id === 'mail');
    if (mail?.state === 'operational') return pass('The service reaches its mail server.');
    return fail('The service does not reach its mail server, or emails have failed.', "Check SMTP_URL, and see the service's log.");
  });
  const [clock, server, mail] = await Promise.all([checkClock(probe, signal), mailServer, checkMail(probe?.about ?? null, dns, signal)]);
  return [result, clock, server, ...mail];
}

/** Checks the name, the certificate and the proxies of PUBLIC_URL. */
async function checkAddress({ config, dns, options }: Parts): Promise<CheckResult[]> {
  const { signal } = options;
  const { publicUrl, trustProxy } = config;
  const [{ runCheck }, { checkTls }, { checkProxy, checkPublicName }, { isThisMachine }] = await Promise.all([
    import('../diagnostics/check.ts'),
    import('../diagnostics/tls.ts'),
    import('../diagnostics/deployment.ts'),
    import('../contract/urls.ts'),
  ]);
  const callback = new URL(publicUrl);
  return Promise.all([
    runCheck({ id: 'dns', name: 'Address', signal }, () => checkPublicName(publicUrl, dns)),
    checkTls({ domain: callback.hostname, callback, isLocal: isThisMachine(callback.hostname) }, options),
    runCheck({ id: 'proxy', name: 'Proxy', signal }, (signal) => checkProxy({ publicUrl, trustProxy }, signal)),
  ]);
}

async function checkDatabase({ config, context }: Parts): Promise<CheckResult[]> {
  const { databaseUrl, databaseDirectUrl, preparedStatements, workers } = config;
  const [{ runCheck, skip }, evaluate] = await Promise.all([import('../diagnostics/check.ts'), import('../diagnostics/deployment.ts')]);
  const { examineDatabase, MIN_VERSION } = await importServer(context, 'platform/db/examine');
  const [facts, directFacts] = await Promise.all([databaseUrl, databaseDirectUrl].map((url) => (url ? examineDatabase(url) : null)));
  const embedded = 'DATABASE_URL is not set: the service has its own PostgreSQL in DATA_DIR.';
  const run = (id: string, name: string, check: (found: NonNullable<typeof facts>) => Finding) =>
    runCheck({ id, name, signal: context.signal }, async () => (facts ? check(facts) : skip(embedded)));
  return Promise.all([
    run('database', 'Database', (found) => evaluate.evaluateDatabase(found, { minVersion: MIN_VERSION, workers })),
    run('pooler', 'Pooler', (found) => evaluate.evaluatePooler(found, { directFacts, preparedStatements })),
    run('database_clock', 'Clock of the database', evaluate.evaluateDatabaseClock),
    // A pooler may connect elsewhere than the primary that the standbys follow.
    run('replication', 'Replication', (found) => evaluate.evaluateReplication(directFacts ?? found)),
  ]);
}

/** Checks the age of the newest backup, and the space for new data. */
async function checkFiles({ config, context, backups }: Parts): Promise<CheckResult[]> {
  const { signal } = context;
  const [{ runCheck, skip }, { evaluateBackup, evaluateDisk }] = await Promise.all([
    import('../diagnostics/check.ts'),
    import('../diagnostics/deployment.ts'),
  ]);
  const backup = runCheck({ id: 'backup', name: 'Backup', signal }, async () => {
    if (!backups) return skip('The directory with the backups is not known.', 'Name it with --backups.');
    return evaluateBackup(backups, await newestBackup(backups), Date.now());
  });
  const disk = runCheck({ id: 'disk', name: 'Disk', signal }, async () => {
    const { dataDir } = config;
    const { bavail, blocks, bsize } = await statfs(existingPart(dataDir));
    return evaluateDisk(dataDir, { freeBytes: bavail * bsize, bytes: blocks * bsize });
  });
  return Promise.all([backup, disk]);
}

async function newestBackup(directory: string): Promise<{ name: string; writtenAt: number; bytes: number } | null> {
  const names = await readdir(directory).catch(() => []);
  const files = await Promise.all(
    names
      // Compressed or encrypted ones have another ending after it.
      .filter((name) => /\.tar(?:\.\w{1,8}){0,2}$/.test(name))
      .map(async (name) => {
        const { mtimeMs, size } = await stat(join(directory, name));
        return { name, writtenAt: mtimeMs, bytes: size };
      }),
  );
  return files.sort((one, other) => other.writtenAt - one.writtenAt)[0] ?? null;
}

/** Returns the directory itself, or the nearest one above it that exists: the service creates DATA_DIR at its first start. */
function existingPart(directory: string): string {
  return existsSync(directory) || dirname(directory) === directory ? directory : existingPart(dirname(directory));
}

async function checkPtr({ config, dns, context }: Parts): Promise<CheckResult[]> {
  const [{ runCheck }, { checkReverseName }, { isPublicAddress }] = await Promise.all([
    import('../diagnostics/check.ts'),
    import('../diagnostics/mail.ts'),
    import('../server/websites/guarded-fetch.ts'),
  ]);
  const parts = { id: 'ptr', name: 'PTR', signal: context.signal };
  return [await runCheck(parts, () => checkReverseName(config.smtpUrl, dns, isPublicAddress))];
}
