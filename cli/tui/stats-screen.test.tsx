import { cleanup, render } from 'ink-testing-library';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { waitUntil } from '../../test/support/waiting.ts';
import { CommandError, EXIT } from '../exit.ts';
import { summarize } from '../login-stats.ts';
import { AUTO_REFRESH_MS, type Load, StatsScreen } from './stats-screen.tsx';
import { glyphsFor } from './words.ts';

const glyphs = glyphsFor({ LANG: 'C.UTF-8' }, 'linux');
const NEWEST = Date.UTC(2026, 10, 21);
const DAY = 86_400_000;

/** 30 days, the newest first. */
function statsWith(countOf: (i: number) => number, { newest = NEWEST, days = 30 } = {}) {
  const all = Array.from({ length: 30 }, (_, i) => ({ date: new Date(newest - i * DAY).toISOString().slice(0, 10), count: countOf(i) }));
  return summarize(all, days);
}

const rising = () => statsWith((i) => 1000 + (30 - i) * 10);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: new Date(2026, 10, 21, 14, 3, 59) });
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function open(load: Load, { columns = 80, rows = 24, days = 30, drawn = glyphs } = {}) {
  const onQuit = vi.fn();
  const element = (size: { columns: number; rows: number }) => (
    <StatsScreen host="auth.example.com" days={days} load={load} size={size} glyphs={drawn} onQuit={onQuit} />
  );
  const { lastFrame, stdin, rerender } = render(element({ columns, rows }));
  const screen = () => lastFrame() ?? '';
  return {
    screen,
    onQuit,
    resize: (columns: number, rows: number) => rerender(element({ columns, rows })),
    /** Waits for it; vi.waitFor would move the clock. */
    async shows(text: string | RegExp) {
      await waitUntil(`the screen shows ${text}`, 30_000, () => screen().match(text) !== null || screen());
    },
    /** The screen after a key; an escape waits for what may follow it. */
    async press(key: string) {
      stdin.write(key);
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      return screen();
    },
  };
}

test('shows that it loads until the first response', async () => {
  const { screen, shows, press } = open(() => new Promise(() => {}));
  await shows('Loading the statistics…');
  expect(screen()).toContain('Loading… · auto-refresh off');
  expect(screen()).toMatch(/Today +│.*\n.*│ … +│/);
  await press('\x1b[D');
  expect(screen()).toContain('Loading the statistics…');
});

test('a month without sign-ins has a message', async () => {
  const { screen, shows } = open(async () => statsWith(() => 0));
  await shows('No sign-ins in 14 days.');
  expect(screen()).toContain('Sat 21 Nov 2026: 0 sign-ins');
  expect(screen()).toMatch(/^ 0 ─+▲─*$/m);
});

test('shows the statistics, the scale and the time of the last refresh', async () => {
  const { screen, shows } = open(async () => rising());
  await shows('Refreshed at 14:03:59');
  expect(screen()).toMatch(/│ 1,300 +│ │ 34,650 +│ │ 1,155 +│/);
  expect(screen()).toContain('▸ Last 14 days');
  expect(screen()).toMatch(/^ 1,600$/m);
  expect(screen()).toMatch(/^ {3}800 ████ .*████/m);
  expect(screen().split('\n')).toHaveLength(24);
});

test('one day has singular labels', async () => {
  const { screen, shows } = open(async () => statsWith(() => 1, { days: 1 }), { days: 1 });
  await shows('Last day');
  expect(screen()).toContain('Total, 1 day');
  expect(screen()).toContain('Sat 21 Nov 2026: 1 sign-in\n');
  expect(screen()).not.toContain('sign-ins\n');
});

test.each([
  [40, 20],
  [40, 10],
  [30, 15],
  [24, 12],
  [20, 6],
  [100, 50],
])('at %d × %d no line is longer, and no word is cut', async (columns, rows) => {
  const huge = statsWith((i) => 1_234_567_890 + i);
  const { screen, shows, press } = open(async () => huge, { columns, rows });
  await shows('Today');
  await shows('14:03:59');
  const words = /[^\s·│╭╮╰╯─━╸▁▂▃▄▅▆▇█▲]+/g;
  const known = new Set(
    [
      'Sign-ins at auth.example.com, by UTC day Today Total, 30 days Average a day A day ▸ Last 14 days All 30 days ←/→ ↑/↓ day scroll Tab pane',
    ]
      .concat(
        'r refresh a auto-refresh ? help q quit Refreshed at 14:03:59 off auto sign-ins to of choose the list PgUp/PgDn by page Home/End first',
      )
      .concat('or last of pane other j/k on this help, and back Esc Ctrl-C Keys')
      .join(' ')
      .split(' '),
  );
  const isKnown = (word: string) =>
    known.has(word) || /^(?:[\d,.]+[kMG]?|\d+:?|[A-Z][a-z]{2}|[A-Z][a-z]?|[MTWFS]|\d{4}:|…|.+…)$/.test(word);
  const frames = [screen(), await press('\x1b[B'), await press('\x1b[D'), await press('?')];
  for (const frame of frames) {
    const lines = frame.split('\n');
    expect(lines.length, frame).toBeLessThanOrEqual(rows);
    for (const line of lines) expect(line.length, frame).toBeLessThanOrEqual(columns);
    expect(
      (frame.match(words) ?? []).filter((word) => !isKnown(word)),
      frame,
    ).toEqual([]);
  }
});

test('a narrow chart shows the days around the chosen one', async () => {
  const { shows, press } = open(async () => rising(), { columns: 24, rows: 14 });
  await shows('Last 9 days');
  expect(await press('')).toMatch(/^ {6}13 .* 21$/m);
  expect(await press('\x1b[H')).toMatch(/^ {6}08 .* 16$/m);
});

test('follows the size of the terminal', async () => {
  const { screen, shows, resize } = open(async () => rising());
  await shows('Average a day');
  resize(40, 20);
  await shows('A day');
  resize(100, 10);
  await shows('Today 1,300 · Total, 30 days 34,650 · Average a day 1,155');
  expect(screen()).not.toContain('All 30 days');
});

test('draws only ASCII without a UTF-8 locale', async () => {
  const { screen, shows, press } = open(async () => rising(), { drawn: glyphsFor({ LANG: 'C' }, 'linux') });
  await shows('Refreshed at');
  expect(screen()).toMatch(/####/);
  expect(screen()).toMatch(/\^/);
  for (const frame of [screen(), await press('?')]) expect(frame).toMatch(/^[\x20-\x7e\n]*$/);
});

test('auto-refresh loads immediately and then every minute, until it is turned off', async () => {
  const reopened: boolean[] = [];
  const { press, shows } = open(async ({ reopen }) => {
    reopened.push(reopen);
    return rising();
  });
  // React runs effects after it has drawn: the interval begins and ends a moment later than the words do.
  const intervals = (number: number) => waitUntil(`${number} intervals`, 30_000, () => vi.getTimerCount() === number);
  await shows('Refreshed at 14:03:59 · auto-refresh off');
  expect(await press('a')).toContain('auto-refresh every minute');
  await intervals(1);
  expect(reopened).toEqual([false, false]);
  vi.advanceTimersByTime(AUTO_REFRESH_MS);
  await shows('Refreshed at 14:04:59');
  vi.advanceTimersByTime(AUTO_REFRESH_MS);
  await shows('Refreshed at 14:05:59');
  expect(reopened).toEqual([false, false, false, false]);
  await press('a');
  await shows('auto-refresh off');
  await intervals(0);
  vi.advanceTimersByTime(10 * AUTO_REFRESH_MS);
  await shows('Refreshed at 14:05:59 · auto-refresh off');
  expect(reopened).toHaveLength(4);
  await press('r');
  expect(reopened.at(-1)).toBe(true);
});

test('an error keeps the statistics, and disappears with the next response', async () => {
  const unreachable = new CommandError(EXIT.unreachable, 'unreachable', 'The service at http://x cannot be reached.', 'Start it.');
  const answers: (() => unknown)[] = [rising, () => Promise.reject(unreachable), () => Promise.reject(new Error('a\x1b[2J\nb')), rising];
  const { screen, shows, press, resize } = open(async () => (await answers.shift()?.()) as ReturnType<typeof rising>);
  await shows('Refreshed at');
  await press('r');
  await shows('The service cannot be reached. Press r to try again.');
  expect(screen()).toContain('Sat 21 Nov 2026: 1,300 sign-ins');
  expect(screen()).not.toContain('q quit');
  resize(40, 20);
  await shows(/^The service cannot be reached\.$/m);
  resize(20, 6);
  await shows(/^The service cannot…$/m);
  resize(80, 24);
  await press('r');
  await shows(/emailauth: a \[2J Press r/);
  await press('r');
  await shows('q quit');
});

test('the chosen day stays chosen when a new day begins', async () => {
  const answers = [rising(), statsWith(() => 7, { newest: NEWEST + DAY })];
  const { shows, press } = open(async () => answers.shift() as ReturnType<typeof rising>);
  await shows('Sat 21 Nov 2026: 1,300');
  expect(await press('\x1b[D')).toContain('Fri 20 Nov 2026: 1,290');
  await press('r');
  await shows('Fri 20 Nov 2026: 7 sign-ins');
  await shows(/^ {3}Sun 22 Nov 2026 /m);
});

test('keys that arrive together are all handled; unknown ones are ignored', async () => {
  const { press, shows, onQuit } = open(async () => rising());
  await shows('1 to 5 of 30');
  expect(await press('jjj')).toContain('4 to 8 of 30');
  expect(await press('xyz\x1bj')).toContain('4 to 8 of 30');
  expect(onQuit).not.toHaveBeenCalled();
});

test.each([['q'], ['\x1b'], ['\x03']])('%j quits', async (key) => {
  const { press, shows, onQuit } = open(async () => rising());
  await shows('Refreshed at');
  await press(key);
  expect(onQuit).toHaveBeenCalledOnce();
});

test('help fills the screen, and ? or Esc close it', async () => {
  const { press, shows, screen, onQuit } = open(async () => rising());
  await shows('Refreshed at');
  expect(await press('?')).toContain('auto-refresh on or off');
  expect(screen()).not.toContain('Today');
  expect(await press('?')).toContain('Today');
  await press('?');
  expect(await press('\x1b')).toContain('Today');
  expect(onQuit).not.toHaveBeenCalled();
});
