import { type AdminSession, openAdmin } from '../admin.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit.ts';
import { type Figures, inFull, readDays, statsOf } from '../stats.ts';
import { table } from '../terminal.ts';

/** Shows the sign-ins of the service: on a screen where there is one, else as a table. */
export async function stats(context: Context, options: { days?: string; plain: boolean }): Promise<number> {
  const wanted = readDays(options.days);
  const { terminal } = context;
  const isScreen = hasScreen(context, options.plain);
  // What `--verbose` writes would stand in the middle of the screen.
  const admin = await openAdmin(isScreen ? { ...context, terminal: { ...terminal, detail: () => {} } } : context);
  try {
    if (isScreen) return await showScreen(context, admin, wanted);
    const figures = statsOf(await admin.dailyLogins(), wanted);
    terminal.answer(figures, textOf(figures));
    return EXIT.ok;
  } finally {
    await admin.close();
  }
}

/** A screen that is drawn again and again is no use to a screen reader, and a dumb terminal cannot draw it. */
function hasScreen({ env, terminal }: Context, plain: boolean): boolean {
  return terminal.fullScreen && !plain && env.TERM !== 'dumb' && env.INK_SCREEN_READER !== 'true';
}

async function showScreen(context: Context, admin: AdminSession, wanted: number): Promise<number> {
  const { env, signal } = context;
  // React's development build notes every drawing in memory that is never freed.
  env.NODE_ENV ??= 'production';
  const { showStats } = await import('../tui/show-stats.tsx');
  return showStats({
    host: new URL(await context.host()).host,
    days: wanted,
    load: async (asked) => statsOf(await admin.dailyLogins(asked), wanted),
    env,
    signal,
  });
}

function textOf({ days, today, total, average }: Figures): string {
  const numbers = [today, total, average].map(inFull);
  const width = Math.max(...numbers.map(({ length }) => length));
  const labels = ['Today', `Total of ${days.length === 1 ? '1 day' : `${days.length} days`}`, 'Average a day'];
  const counts = ['Logins', ...days.map(({ count }) => inFull(count))];
  const countWidth = Math.max(...counts.map(({ length }) => length));
  return [
    table(labels.map((label, i) => [label, numbers[i].padStart(width)])),
    table(counts.map((count, i) => [i === 0 ? 'Date' : days[i - 1].date, count.padStart(countWidth)])),
  ].join('\n\n');
}
