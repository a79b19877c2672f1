import { resolve } from 'node:path';
import type { Attached, Connection } from '../../server/db/attach.ts';
import type { CommandSpec, Context } from '../command.ts';
import { CommandError, cancelled, EXIT } from '../exit.ts';
import { version } from '../installation.ts';
import { requireConfirmation } from '../prompts.ts';
import { importServer } from '../server-package.ts';
import { minuteOf, table } from '../terminal.ts';

export const start: CommandSpec = {
  usage: 'start',
  group: 'The service',
  summary: 'run the service (what `npm start` does)',
  about:
    'Every other setting comes from the environment: see docs/operations.md. The service is the package emailauth-server. If it is not installed beside this program, it is installed with npm into $XDG_DATA_HOME/emailauth after a confirmation, or with --yes; EMAILAUTH_SERVER_PACKAGE is a file or URL to install instead.',
  flags: { '--port <port>': 'port to listen on, instead of PORT', '--host <address>': 'address to listen on, instead of HOST' },
  examples: ['start', 'start --port 8080', 'start --yes'],
  ownsSignals: true,
  async run(context, _, { port, host }) {
    const { runService } = await importServer(context, 'main');
    return runService({ ...context.env, ...(port && { PORT: port }), ...(host && { HOST: host }) });
  },
};

export const backup: CommandSpec = {
  usage: 'backup <file>',
  choices: { file: 'files' },
  group: 'The service',
  summary: 'write all data of the service to one file',
  about:
    'Of the database that DATABASE_URL names, else of the embedded one in DATA_DIR, also while the service runs; with the icons in DATA_DIR. The file gives nobody access, but it contains addresses. SECRET_KEY is not in it.',
  flags: { '--force': 'replace the file' },
  examples: ['backup emailauth-2026-11-21.tar.gz'],
  json: '{file,bytes,tables,icons}',
  exits: { 3: 'a setting or the path is wrong', 6: 'the file exists', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context, [name = ''], { force = false }) {
    const { env, cwd, terminal, signal } = context;
    const { readStorageConfig } = await importServer(context, 'config');
    const { writeBackup } = await importServer(context, 'backup/backup');
    const file = resolve(cwd, name);
    const config = readStorageConfig(env);
    const { bytes, tables, icons, missing, place } = await writeBackup({
      config,
      file,
      force,
      program: version(),
      signal,
      report: (text) => terminal.note(text),
    }).catch((error) => {
      throw signal.aborted ? cancelled() : error;
    });
    if (place === 'bucket') terminal.note('The icons are in the bucket and not in the file.');
    if (missing > 0) terminal.note(`${missing} icons are not in ${config.dataDir}/uploads, and not in the file.`);
    const count = (table: string) => (tables[table] ?? 0).toLocaleString('en');
    const counts = `accounts ${count('users')}, websites ${count('websites')}, events ${count('audit_log')}, icons ${icons}`;
    terminal.result({ file, bytes, tables, icons }, `${file}\n${counts}, ${bytes.toLocaleString('en')} bytes`);
    return EXIT.ok;
  },
};

export const restore: CommandSpec = {
  usage: 'restore <file>',
  choices: { file: 'files' },
  group: 'The service',
  summary: 'replace all data by that of a backup',
  about:
    'The service must not run. The file is checked first, and then everything is replaced, or nothing. Every earlier session, token, emailed link and remembered device ends.',
  flags: { '--revoke-api-keys': 'revoke all API keys; otherwise those work that were valid at the backup' },
  examples: ['restore emailauth-2026-11-21.tar.gz', 'restore emailauth-2026-11-21.tar.gz --yes --revoke-api-keys'],
  json: '{file,createdAt,tables,icons,apiKeys}',
  exits: { 3: 'a setting or the file is wrong', 6: 'the service is running', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context, [name = ''], { revokeApiKeys = false }) {
    const { env, cwd, terminal, signal } = context;
    const { readStorageConfig } = await importServer(context, 'config');
    const { restoreBackup } = await importServer(context, 'backup/restore');
    const file = resolve(cwd, name);
    const config = readStorageConfig(env);
    // Without a terminal and --yes it fails before a database is started.
    if (!terminal.interactive) await requireConfirmation(terminal, '');
    const { manifest, migrated, apiKeys, iconsLeft } = await restoreBackup({
      config,
      file,
      revokeApiKeys,
      signal,
      report: (text) => terminal.note(text),
      async confirm({ place, present, manifest: { createdAt, tables } }) {
        const rowsOf = (which: string) => (tables.find((each) => each.name === which)?.rows ?? 0).toLocaleString('en');
        const rows = [
          ['', 'now', 'backup'],
          ['accounts', present.accounts.toLocaleString('en'), rowsOf('users')],
          ['websites', present.websites.toLocaleString('en'), rowsOf('websites')],
          ['events', present.events.toLocaleString('en'), rowsOf('audit_log')],
        ];
        terminal.note(`In ${place}:\n${table(rows)}`);
        await requireConfirmation(terminal, `Replace everything by the backup of ${minuteOf(createdAt)} UTC?`);
      },
    }).catch((error) => {
      throw signal.aborted ? cancelled() : error;
    });

    const { createdAt, tables, icons } = manifest;
    if (migrated.length > 0) terminal.note(`Migrated to this version: ${migrated.join(', ')}.`);
    terminal.note('All sessions, tokens, emailed links and remembered devices have ended.');
    if (apiKeys > 0 && revokeApiKeys) terminal.note(`API keys revoked: ${apiKeys}.`);
    else if (apiKeys > 0) {
      terminal.note(
        `API keys that work, as at the backup: ${apiKeys}. One revoked since then\nhas to be revoked again, or restore with --revoke-api-keys.`,
      );
    }
    if (icons.place === 'bucket' && !config.bucket) terminal.note('The icons are in a bucket: set the S3_ settings to have them shown.');
    if (iconsLeft > 0) terminal.note(`${iconsLeft} unused icons could not be removed from ${config.dataDir}/uploads.`);
    const rows = Object.fromEntries(tables.map((each) => [each.name, each.rows]));
    terminal.result(
      { file, createdAt, tables: rows, icons: icons.files.length, apiKeys: revokeApiKeys ? 0 : apiKeys },
      `Restored as at ${minuteOf(createdAt)} UTC. Start the service.`,
    );
    return EXIT.ok;
  },
};

export const dbMigrate: CommandSpec = {
  usage: 'db migrate',
  group: 'The service',
  summary: 'migrate the database to the version of this program',
  about:
    '`start` does this itself. Safe while the service runs, and while another process does the same: it waits for that one. It reports each step and its progress; after Ctrl-C the next run continues from there.',
  examples: ['db migrate', 'db migrate --json'],
  json: '{applied}',
  exits: { 3: 'a setting is wrong', 6: 'the database has a newer version', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context) {
    const { terminal, signal } = context;
    const { migrateOn } = await importServer(context, 'db/migrate');
    const interrupted = () => {
      const message = 'Cancelled. The completed steps are kept; the next `emailauth db migrate` continues.';
      return new CommandError(EXIT.cancelled, 'cancelled', message);
    };
    await onDatabase(context, { exclusive: false, interrupted }, async (client, { url, place }) => {
      const applied = await migrateOn(client, { url, signal, report: (line) => terminal.note(line) });
      terminal.note(`Checked ${place}`);
      terminal.result({ applied }, applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'Nothing to do.');
    });
    return EXIT.ok;
  },
};

export const dbForgetSecretKey: CommandSpec = {
  usage: 'db forget-secret-key',
  group: 'The service',
  summary: 'let the next start decide which SECRET_KEY is the right one',
  about:
    'For a SECRET_KEY that is lost or was changed on purpose. The service must not run. Emailed links and codes that are still open become invalid with the old key.',
  examples: ['db forget-secret-key', 'db forget-secret-key --yes'],
  json: '{forgotten}',
  exits: { 3: 'a setting is wrong', 6: 'the service is running', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context) {
    const { terminal } = context;
    const { forgetSecretKey } = await importServer(context, 'db/secret-key');
    // Without a terminal and --yes it fails before a database is started.
    if (!terminal.interactive) await requireConfirmation(terminal, '');
    await onDatabase(context, { exclusive: true }, async (client, { place }) => {
      const question = `Let the next start decide which SECRET_KEY ${place} is used with? Open emailed links and codes may become invalid.`;
      await requireConfirmation(terminal, question);
      const forgotten = await forgetSecretKey(client, place);
      terminal.result({ forgotten }, forgotten ? 'Forgotten. Start the service with the SECRET_KEY to use from now on.' : 'Nothing to do.');
    });
    return EXIT.ok;
  },
};

export const dbRotateSigningKeys: CommandSpec = {
  usage: 'db rotate-signing-keys',
  group: 'The service',
  summary: 'replace the keys that sign ID tokens and access tokens',
  about:
    'The service does this itself every 90 days. The new keys are published immediately and sign after a day; the former ones stay published for 30 more days. With --revoke, for keys that may have leaked, the new keys sign within a minute, and every token of the former ones becomes invalid: you confirm that, or pass --yes. Safe while the service runs, without a restart. It needs SECRET_KEY. API keys are another thing: `emailauth keys rotate`.',
  flags: { '--revoke': 'the former keys, and all tokens that they signed, become invalid within a minute' },
  examples: ['db rotate-signing-keys', 'db rotate-signing-keys --revoke --yes'],
  json: '{rotated,revoked}',
  exits: { 3: 'a setting is wrong', 6: 'SECRET_KEY is not that of the service', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context, _, { revoke = false }) {
    const { terminal, env } = context;
    const [{ readSecretKeys }, { rotateByOperator }] = await Promise.all([
      importServer(context, 'config'),
      importServer(context, 'oidc/keys'),
    ]);
    const secretKeys = readSecretKeys(env);
    if (revoke) await requireConfirmation(terminal, 'Every ID token and access token becomes invalid within a minute. Replace the keys?');
    await onDatabase(context, { exclusive: false }, async (client, { place }) => {
      await rotateByOperator(client, secretKeys, { revoke });
      terminal.note(`Changed ${place}`);
      const text = revoke
        ? 'New keys sign within a minute; the former ones are no longer valid.'
        : 'New keys are published. They sign in 24 hours.';
      terminal.result({ rotated: true, revoked: revoke }, text);
    });
    return EXIT.ok;
  },
};

export const dbErase: CommandSpec = {
  usage: 'db erase <address>',
  group: 'The service',
  summary: 'erase an email address from all tables',
  about:
    'For a person who demands that. It first counts the rows of every table that contain the address, and asks; --dry-run only counts. Then, in one transaction, everything of the address is deleted: its account with applications and API keys, sign-ins, sessions, remembered accounts, pending emails, memberships, OpenID Connect records and its entry in the lists of visitors. The audit log keeps its rows under a random name. Websites that it owns have to be named with --delete-websites, or go to another address with --transfer-to. Safe while the service runs; DATABASE_URL has to name the owner of the tables. Backups and log files are not changed.',
  flags: {
    '--dry-run': 'count only',
    '--delete-websites <domains>': 'its websites to delete, separated by commas',
    '--transfer-to <address>': 'the address that gets its other websites',
  },
  examples: [
    'db erase ann@example.com --dry-run',
    'db erase ann@example.com --delete-websites shop.example --yes',
    'db erase ann@example.com --transfer-to bob@example.com --json',
  ],
  json: '{erased,rows}',
  exits: { 3: 'a setting is wrong', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context, [address = ''], { dryRun = false, deleteWebsites = '', transferTo }) {
    const { terminal } = context;
    const { eraseAddress } = await importServer(context, 'admin/operator-store');
    // Without a terminal and --yes it fails before a database is started.
    if (!dryRun && !terminal.interactive) await requireConfirmation(terminal, '');
    const deleted = deleteWebsites.split(',').flatMap((domain) => domain.trim().toLowerCase() || []);
    const erasure = { address, deleted, heir: transferTo ?? null };
    await onDatabase(context, { exclusive: false }, async (client, { place }) => {
      const counted = await eraseAddress(client, erasure, { dryRun: true });
      const table = Object.entries(counted).map(([name, count]) => `${String(count).padStart(8)}  ${name}`);
      terminal.note(`Checked ${place}`);
      if (dryRun || table.length === 0) {
        terminal.result({ erased: false, rows: counted }, table.length > 0 ? table.join('\n') : 'No row contains the address.');
        return;
      }
      terminal.note(table.join('\n'));
      await requireConfirmation(terminal, 'Erase the address? This cannot be undone.');
      const rows = await eraseAddress(client, erasure, { dryRun: false });
      terminal.result({ erased: true, rows }, 'The address is erased.');
    });
    return EXIT.ok;
  },
};

export const adminUnlock: CommandSpec = {
  usage: 'admin unlock',
  group: 'The service',
  summary: 'clear the counters of wrong admin passwords',
  about:
    'For when /iladmin answers "Too many wrong passwords". Takes effect immediately on every instance; needs the settings of the database, like `db migrate`. Safe while the service runs.',
  examples: ['admin unlock', 'admin unlock --json'],
  json: '{cleared}',
  exits: { 3: 'a setting is wrong', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context) {
    const { terminal } = context;
    const { clearAdminLimits } = await importServer(context, 'admin/operator-store');
    await onDatabase(context, { exclusive: false }, async (client, { place }) => {
      const cleared = await clearAdminLimits(client, place);
      const text =
        cleared === 0 ? 'Nothing was locked' : `Cleared ${cleared} ${cleared === 1 ? 'counter' : 'counters'} of wrong admin passwords`;
      terminal.note(`Checked ${place}`);
      terminal.result({ cleared }, `${text}. The admin password can be entered at /iladmin, on every instance.`);
    });
    return EXIT.ok;
  },
};

/**
 * Runs `work` on a connection to the configured database, which must accept writes. Closes the connection afterwards, and stops the
 * embedded PostgreSQL if it was started for this.
 * @param options.exclusive no service may run on DATA_DIR
 * @param options.interrupted returns the error after Ctrl-C, where more is known than that the command was cancelled
 */
async function onDatabase<Result>(
  context: Context,
  options: { exclusive: boolean; interrupted?: () => CommandError },
  work: (client: Connection['client'], database: Attached) => Promise<Result>,
): Promise<Result> {
  const { env, signal } = context;
  const { readStorageConfig } = await importServer(context, 'config');
  const { attachDatabase, connectAlone } = await importServer(context, 'db/attach');
  const database = await attachDatabase(readStorageConfig(env), options);
  try {
    const { client, close } = await connectAlone(database, signal, { writes: true });
    try {
      return await work(client, database);
    } finally {
      await close();
    }
  } catch (error) {
    throw signal.aborted ? (options.interrupted ?? cancelled)() : error;
  } finally {
    await database.stop();
  }
}
