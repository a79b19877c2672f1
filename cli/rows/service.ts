import type { CommandRow } from '../command-row.ts';

/** For whoever runs the service. */
export const serviceCommands: readonly CommandRow[] = [
  {
    usage: 'start',
    group: 'The service',
    summary: 'run the service (what `npm start` does)',
    about: 'Every other setting comes from the environment: see docs/operations.md.',
    flags: { '--port <port>': 'port to listen on, instead of PORT', '--host <address>': 'address to listen on, instead of HOST' },
    examples: ['start', 'start --port 8080'],
    ownsSignals: true,
    run: async ({ env }, _, { port, host }) => (await import('../commands/start.ts')).start({ port, host }, env),
  },
  {
    usage: 'backup <file>',
    choices: { file: 'files' },
    group: 'The service',
    summary: 'write everything that the service keeps to one file',
    about:
      'Of the database that DATABASE_URL names, else of the embedded one in DATA_DIR, also while the service runs; with the icons in DATA_DIR. The file lets nobody in, but it holds addresses. SECRET_KEY is not in it.',
    flags: { '--force': 'replace the file' },
    examples: ['backup emailauth-2026-11-21.tar.gz'],
    json: '{file,bytes,tables,icons}',
    exits: { 3: 'a setting or the path is wrong', 6: 'the file is there already', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context, [file = ''], { force = false }) => (await import('../commands/backup.ts')).backup(context, { file, force }),
  },
  {
    usage: 'restore <file>',
    choices: { file: 'files' },
    group: 'The service',
    summary: 'replace everything by what a backup holds',
    about:
      'The service must not run. The file is checked first, and then all is replaced, or nothing. Every session, token, mailed link and remembered device from before ends.',
    flags: { '--revoke-api-keys': 'end all API keys; else those work that did at the backup' },
    examples: ['restore emailauth-2026-11-21.tar.gz', 'restore emailauth-2026-11-21.tar.gz --yes --revoke-api-keys'],
    json: '{file,createdAt,tables,icons,apiKeys}',
    exits: { 3: 'a setting or the file is wrong', 6: 'the service is running', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context, [file = ''], { revokeApiKeys = false }) =>
      (await import('../commands/restore.ts')).restore(context, { file, revokeApiKeys }),
  },
  {
    usage: 'db migrate',
    group: 'The service',
    summary: 'bring the database to the version of this program',
    about:
      '`start` does it by itself. Safe while the service runs, and while another process does the same: it waits for that. It tells each step and how far it is; after Ctrl-C the next run goes on from there.',
    examples: ['db migrate', 'db migrate --json'],
    json: '{applied}',
    exits: { 3: 'a setting is wrong', 6: 'the database is of a newer version', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context) => (await import('../commands/db-migrate.ts')).migrateDatabase(context),
  },
  {
    usage: 'db forget-secret-key',
    group: 'The service',
    summary: 'let the next start decide which SECRET_KEY is the right one',
    about:
      'For a SECRET_KEY that is lost or was changed on purpose. The service must not run. Mailed links and codes that are open end with the old key.',
    examples: ['db forget-secret-key', 'db forget-secret-key --yes'],
    json: '{forgotten}',
    exits: { 3: 'a setting is wrong', 6: 'the service is running', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context) => (await import('../commands/db-forget-secret-key.ts')).forgetSecretKey(context),
  },
  {
    usage: 'admin unlock',
    group: 'The service',
    summary: 'clear the counters of wrong admin passwords',
    about:
      'For when /iladmin answers "Too many wrong passwords". Takes effect at once on every instance; needs the settings of the database, like `db migrate`. Safe while the service runs.',
    examples: ['admin unlock', 'admin unlock --json'],
    json: '{cleared}',
    exits: { 3: 'a setting is wrong', 8: 'the database does not answer' },
    endsItself: true,
    run: async (context) => (await import('../commands/admin-unlock.ts')).unlockAdmin(context),
  },
];
