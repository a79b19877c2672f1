import { resolve } from 'node:path';
import type { AdminSession } from '../admin.ts';
import type { CommandSpec, Context } from '../command.ts';
import { EXIT, throwCancelled, usageError } from '../exit.ts';
import { version } from '../installation.ts';
import { formatCount, type LoginStats, parseDays, summarize } from '../login-stats.ts';
import { requireConfirmable, requireConfirmation } from '../prompts.ts';
import { importServer } from '../server-package.ts';
import { minuteOf, table } from '../terminal.ts';

const start: CommandSpec = {
  usage: 'start',
  group: 'The service',
  summary: 'run the service (what `npm start` does)',
  about:
    'Every other setting comes from the environment: see docs/operations.md. The service is the package emailauth-server. If it is not installed beside this program, it is installed with npm into $XDG_DATA_HOME/emailauth after a confirmation, or with --yes; EMAILAUTH_SERVER_PACKAGE is a file or URL to install instead.',
  flags: { '--port <port>': 'port to listen on, instead of PORT', '--host <address>': 'address to listen on, instead of HOST' },
  examples: ['start', 'start --port 8080', 'start --yes'],
  ownsSignals: true,
  outlivesStdout: true,
  async run(context, _, { port, host }) {
    const { runService } = await importServer(context, 'main');
    return runService({ ...context.env, ...(port && { PORT: port }), ...(host && { HOST: host }) });
  },
};

const backup: CommandSpec = {
  usage: 'backup <file>',
  choices: { file: 'files' },
  group: 'The service',
  summary: 'write all data of the service to one file, or to stdout',
  about:
    'Of the database that DATABASE_URL names, else of the embedded one in DATA_DIR, also while the service runs; with the icons. `-` is stdout, for a pipe. It is a tar archive with the rows of each table. It gives no one access, but it contains addresses. SECRET_KEY is not in it.',
  flags: { '--force': 'replace the file' },
  examples: ['backup emailauth-2026-11-21.tar', 'backup - | gzip > emailauth-2026-11-21.tar.gz'],
  json: '{file,bytes,tables,icons}',
  exits: { 3: 'a setting or the path is wrong', 6: 'the file exists', 8: 'the database does not respond' },
  outlivesStdout: true,
  waitsForCleanUp: true,
  async run(context, [name = ''], { force = false }) {
    const { env, cwd, terminal, signal } = context;
    if (name === '-' && terminal.json) throw usageError('The backup itself goes to stdout.', 'Leave out --json, or name a file.');
    if (name === '-' && terminal.streams.stdout.isTTY) {
      throw usageError('A terminal cannot show a backup.', 'Pipe it, as in: emailauth backup - | gzip > emailauth.tar.gz');
    }
    const { readStorageConfig } = await importServer(context, 'platform/config');
    const { writeBackup } = await importServer(context, 'operations/backup/backup');
    const file = name === '-' ? null : resolve(cwd, name);
    const config = readStorageConfig(env);
    const { bytes, tables, icons, missing } = await writeBackup({
      config,
      file,
      force,
      program: version(),
      signal,
      report: (text) => terminal.note(text),
    }).catch((error) => throwCancelled(error, signal));
    if (missing > 0) terminal.note(`${missing} icons were not found, and are not in the backup.`);
    const count = (table: string) => (tables[table] ?? 0).toLocaleString('en');
    const counts = `accounts ${count('users')}, websites ${count('websites')}, events ${count('audit_log')}, icons ${icons}`;
    const text = `${counts}, ${bytes.toLocaleString('en')} bytes`;
    if (file === null) terminal.note(text);
    else terminal.result({ file, bytes, tables, icons }, `${file}\n${text}`);
    return EXIT.ok;
  },
};

const restore: CommandSpec = {
  usage: 'restore <file>',
  choices: { file: 'files' },
  group: 'The service',
  summary: 'replace all data by that of a backup',
  about:
    'The service must not run. `-` is stdin, which needs --yes. Everything is replaced, or nothing: also when the backup turns out to be damaged or incomplete. Every earlier session, token, emailed link and remembered device ends.',
  flags: { '--revoke-api-keys': 'revoke all API keys; otherwise those work that were valid at the backup' },
  examples: ['restore emailauth-2026-11-21.tar', 'restore - --yes --revoke-api-keys < emailauth-2026-11-21.tar'],
  json: '{file,createdAt,tables,icons,apiKeys}',
  exits: { 3: 'a setting or the backup is wrong', 6: 'the service is running', 8: 'the database does not respond' },
  waitsForCleanUp: true,
  async run(context, [name = ''], { revokeApiKeys = false }) {
    const { env, cwd, terminal, signal } = context;
    if (name === '-' && terminal.streams.stdin.isTTY) {
      throw usageError('A backup cannot come from a terminal.', 'Pipe it, as in: gunzip -c emailauth.tar.gz | emailauth restore - --yes');
    }
    const { readStorageConfig } = await importServer(context, 'platform/config');
    const { restoreBackup } = await importServer(context, 'operations/backup/restore');
    const file = name === '-' ? null : resolve(cwd, name);
    const config = readStorageConfig(env);
    // Before a database is started.
    requireConfirmable(terminal);
    const { createdAt, tables, icons, migrated, apiKeys, iconsLeft } = await restoreBackup({
      config,
      file,
      revokeApiKeys,
      signal,
      report: (text) => terminal.note(text),
      async confirm({ place, present, header }) {
        const rows = (['accounts', 'websites', 'events'] as const).map((name) => [
          name,
          present[name].toLocaleString('en'),
          header.counts[name].toLocaleString('en'),
        ]);
        terminal.note(`In ${place}:\n${table([['', 'now', 'backup'], ...rows])}`);
        await requireConfirmation(terminal, `Replace everything by the backup of ${minuteOf(header.createdAt)} UTC?`);
      },
    }).catch((error) => throwCancelled(error, signal));

    if (migrated.length > 0) terminal.note(`Migrated to this version: ${migrated.join(', ')}.`);
    terminal.note('All sessions, tokens, emailed links and remembered devices have ended.');
    if (apiKeys > 0 && revokeApiKeys) terminal.note(`API keys revoked: ${apiKeys}.`);
    else if (apiKeys > 0) {
      terminal.note(
        `API keys that work, as at the backup: ${apiKeys}. One revoked since then\nhas to be revoked again, or restore with --revoke-api-keys.`,
      );
    }
    if (iconsLeft > 0) terminal.note(`${iconsLeft} unused icons could not be removed.`);
    terminal.result(
      { file: file ?? '-', createdAt, tables, icons, apiKeys: revokeApiKeys ? 0 : apiKeys },
      `Restored as at ${minuteOf(createdAt)} UTC. Start the service.`,
    );
    return EXIT.ok;
  },
};

const stats: CommandSpec = {
  usage: 'stats',
  needs: 'service',
  group: 'The service',
  summary: 'sign-ins of 30 days at all websites, for the operator',
  about:
    'Prompts for the admin password, or takes it from EMAILAUTH_ADMIN_PASSWORD; the sign-ins of one of your websites are in `emailauth sites get`. On the interactive screen ←/→ choose a day, ↑/↓ scroll, ? shows every key and q quits. Without a terminal it prints a table, as it does for a screen reader (INK_SCREEN_READER=true). Days are UTC days.',
  flags: { '--days <n>': 'how many days, today included: 1 to 30', '--plain': 'a table instead of the screen' },
  examples: ['stats', 'stats --plain --days 7', 'stats --json | jq .total'],
  json: '{days:[{date,count}],today,total,average}',
  async run(context, _, { days, plain = false }) {
    const count = parseDays(days);
    const { terminal } = context;
    const isScreen = canShowScreen(context, plain);
    const { openAdmin } = await import('../admin.ts');
    // On the screen, the output of `--verbose` would overwrite a part of it.
    const admin = await openAdmin(isScreen ? { ...context, terminal: { ...terminal, detail: () => {} } } : context);
    try {
      if (isScreen) return await showScreen(context, admin, count);
      const summary = summarize(await admin.dailyLogins(), count);
      terminal.result(summary, formatStats(summary));
      return EXIT.ok;
    } finally {
      await admin.close();
    }
  },
};

/** Returns whether the interactive screen can be shown. A screen reader cannot follow a screen that is redrawn. */
function canShowScreen({ env, terminal }: Context, plain: boolean): boolean {
  return terminal.fullScreen && !plain && env.INK_SCREEN_READER !== 'true';
}

async function showScreen(context: Context, admin: AdminSession, count: number): Promise<number> {
  const { env, terminal } = context;
  // React's development build records every render in memory that is never freed.
  env.NODE_ENV ??= 'production';
  const { showStats } = await import('../tui/show-stats.tsx');
  return showStats({
    host: new URL(await context.host()).host,
    days: count,
    load: async (options) => summarize(await admin.dailyLogins(options), count),
    env,
    terminal,
  });
}

/** Returns the counts and a table of the days as text. */
function formatStats({ days, today, total, average }: LoginStats): string {
  const numbers = [today, total, average].map(formatCount);
  const width = Math.max(...numbers.map(({ length }) => length));
  const labels = ['Today', `Total of ${days.length === 1 ? '1 day' : `${days.length} days`}`, 'Average a day'];
  const counts = ['Logins', ...days.map(({ count }) => formatCount(count))];
  const countWidth = Math.max(...counts.map(({ length }) => length));
  return [
    table(labels.map((label, i) => [label, numbers[i].padStart(width)])),
    table(counts.map((count, i) => [i === 0 ? 'Date' : days[i - 1].date, count.padStart(countWidth)])),
  ].join('\n\n');
}

export const serviceCommands: readonly CommandSpec[] = [stats, start, backup, restore];
