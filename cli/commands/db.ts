import { errors, type Fault } from '../../contract/errors.ts';
import type { Attached, Connection } from '../../server/operations/embedded/attach.ts';
import type { CommandSpec, Context } from '../command.ts';
import { CommandError, cancelled, EXIT } from '../exit.ts';
import { requireConfirmable, requireConfirmation } from '../prompts.ts';
import { importServer } from '../server-package.ts';

const dbMigrate: CommandSpec = {
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
    const { migrateOn } = await importServer(context, 'platform/db/migrate');
    const { sqlFunctions } = await importServer(context, 'signin/sql-functions');
    const interrupted = () => {
      const message = 'Cancelled. The completed steps are kept; the next `emailauth db migrate` continues.';
      return new CommandError(EXIT.cancelled, 'cancelled', message);
    };
    await onDatabase(context, { exclusive: false, interrupted }, async (client, { url, place }) => {
      const applied = await migrateOn(client, { url, functions: sqlFunctions, signal, report: (line) => terminal.note(line) });
      terminal.note(`Checked ${place}`);
      terminal.result({ applied }, applied.length > 0 ? `Applied: ${applied.join(', ')}` : 'Nothing to do.');
    });
    return EXIT.ok;
  },
};

const dbPartitions: CommandSpec = {
  usage: 'db partitions',
  group: 'The service',
  summary: 'create the partitions that are needed soon, and drop those whose rows are no longer kept',
  about:
    'The service does this itself every hour. It is for a service whose role does not own the tables: run it every day with the DATABASE_URL of the owner, and with the settings RETENTION_… and AUDIT_LOG of the service. Safe while the service runs.',
  examples: ['db partitions', 'db partitions --json'],
  json: '{created,dropped}',
  exits: { 3: 'a setting is wrong', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context) {
    const { terminal, env, signal } = context;
    const { readRetention } = await importServer(context, 'platform/config');
    const { Retention } = await importServer(context, 'operations/retention');
    const { retention: config, printsAuditLog } = readRetention(env);
    await onDatabase(context, { exclusive: false }, async (_, { url, place }) => {
      const ignore = () => {};
      const log = { info: ignore, warn: ignore, error: ignore };
      const { created, dropped } = await new Retention({ databaseUrl: url, config, printsAuditLog, log, asOwner: true }).run(signal);
      terminal.note(`Checked ${place}`);
      const text = [created.length > 0 && `Created: ${created.join(', ')}.`, dropped.length > 0 && `Dropped: ${dropped.join(', ')}.`];
      terminal.result({ created, dropped }, text.filter(Boolean).join(' ') || 'Nothing to do.');
    });
    return EXIT.ok;
  },
};

const dbForgetSecretKey: CommandSpec = {
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
    const { forgetSecretKey } = await importServer(context, 'platform/db/secret-key');
    // Before a database is started.
    requireConfirmable(terminal);
    await onDatabase(context, { exclusive: true }, async (client, { place }) => {
      const question = `Let the next start decide which SECRET_KEY ${place} is used with? Open emailed links and codes may become invalid.`;
      await requireConfirmation(terminal, question);
      const forgotten = await forgetSecretKey(client, place);
      terminal.result({ forgotten }, forgotten ? 'Forgotten. Start the service with the SECRET_KEY to use from now on.' : 'Nothing to do.');
    });
    return EXIT.ok;
  },
};

const dbRotateSigningKeys: CommandSpec = {
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
    const { readSecretKeys } = await importServer(context, 'platform/config');
    const { rotateByOperator } = await importServer(context, 'oidc/keys');
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

const dbErase: CommandSpec = {
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
    const { eraseAddress } = await importServer(context, 'operations/operator-store');
    // Before a database is started.
    if (!dryRun) requireConfirmable(terminal);
    const deleted = deleteWebsites.split(',').flatMap((domain) => domain.trim().toLowerCase() || []);
    const erasure = { address, deleted, heir: transferTo ?? null };
    await onDatabase(context, { exclusive: false }, async (client, { place }) => {
      const erase = (options: { dryRun: boolean }) =>
        eraseAddress(client, erasure, options).catch((error) => {
          throw error.name === 'Fault' ? describeRefusedErasure(error) : error;
        });
      const counted = await erase({ dryRun: true });
      const table = Object.entries(counted).map(([name, count]) => `${String(count).padStart(8)}  ${name}`);
      terminal.note(`Checked ${place}`);
      if (dryRun || table.length === 0) {
        terminal.result({ erased: false, rows: counted }, table.length > 0 ? table.join('\n') : 'No row contains the address.');
        return;
      }
      terminal.note(table.join('\n'));
      await requireConfirmation(terminal, 'Erase the address? This cannot be undone.');
      const rows = await erase({ dryRun: false });
      terminal.result({ erased: true, rows }, 'The address is erased.');
    });
    return EXIT.ok;
  },
};

/** Returns the error of an erasure with a hint that names the flags of the command. */
function describeRefusedErasure({ code, message }: Fault): CommandError {
  const flags = 'Delete them with --delete-websites, or give them to another address with --transfer-to.';
  const hint = { websites_undecided: flags, not_table_owner: errors.not_table_owner.hint }[code as string] ?? '';
  return new CommandError(EXIT.failure, code, message, hint);
}

const adminUnlock: CommandSpec = {
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
    const { clearAdminLimits } = await importServer(context, 'operations/operator-store');
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
  const { readStorageConfig } = await importServer(context, 'platform/config');
  const { attachDatabase, connectAlone } = await importServer(context, 'operations/embedded/attach');
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

export const dbCommands: readonly CommandSpec[] = [dbMigrate, dbPartitions, dbForgetSecretKey, dbRotateSigningKeys, dbErase, adminUnlock];
