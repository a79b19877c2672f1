import type { AdminSession } from '../admin.ts';
import type { CommandSpec, Context } from '../command.ts';
import { EXIT } from '../exit.ts';
import { formatCount, type LoginStats, parseDays, summarize } from '../stats.ts';
import { table } from '../terminal.ts';

export const stats: CommandSpec = {
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

/** A screen reader cannot follow a screen that is redrawn, and a dumb terminal cannot draw it. */
function canShowScreen({ env, terminal }: Context, plain: boolean): boolean {
  return terminal.fullScreen && !plain && env.TERM !== 'dumb' && env.INK_SCREEN_READER !== 'true';
}

async function showScreen(context: Context, admin: AdminSession, count: number): Promise<number> {
  const { env, signal } = context;
  // React's development build records every render in memory that is never freed.
  env.NODE_ENV ??= 'production';
  const { showStats } = await import('../tui/show-stats.tsx');
  return showStats({
    host: new URL(await context.host()).host,
    days: count,
    load: async (options) => summarize(await admin.dailyLogins(options), count),
    env,
    signal,
  });
}

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
