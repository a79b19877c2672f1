import { Box, Text, useInput } from 'ink';
import { useCallback, useEffect, useRef, useState } from 'react';
import { describeFailure } from '../exit.ts';
import { formatCount, type LoginStats } from '../login-stats.ts';
import { Chart, DayList } from './chart.tsx';
import { afterKey, clampView, FIRST_VIEW, type Layout, layoutOf, type View, type ViewKey } from './layout.ts';
import { clockTime, firstFitting, formatShort, type Glyphs, sanitize, truncate } from './words.ts';

const CHART_DAYS = 14;

type Props = {
  host: string;
  /** Number of days in the list. */
  days: number;
  load: Load;
  size: { columns: number; rows: number };
  glyphs: Glyphs;
  onQuit: () => void;
};

/** The whole screen of `emailauth stats`. */
export function StatsScreen({ host, days, load, size, glyphs, onQuit }: Props) {
  const [isAuto, setAuto] = useState(false);
  const { refresh, ...state } = useStats(load, isAuto);
  const [view, setView] = useState(FIRST_VIEW);
  const layout = layoutOf(size.columns, size.rows, days);
  const extent = { chart: Math.min(CHART_DAYS, days), list: days, rows: layout.list.rows };
  const shown = clampView(view, 0, extent);

  useNewDays(state.stats, (newer) => setView((before) => clampView(before, newer, extent)));
  useKeys((key: KeyName) => {
    if (key === 'quit' || (key === 'escape' && !shown.help)) onQuit();
    else if (key === 'refresh') refresh(true);
    else if (key === 'auto') {
      if (!isAuto) refresh(false);
      setAuto(!isAuto);
    } else if (key === 'escape' || key === 'help') setView((before) => afterKey(before, 'help', extent));
    else if (!shown.help) setView((before) => afterKey(clampView(before, 0, extent), key, extent));
  });

  if (shown.help) return <Help layout={layout} glyphs={glyphs} />;
  const width = layout.columns - 2 * layout.margin;
  return (
    <Box flexDirection="column" width={layout.columns} height={layout.rows} paddingX={layout.margin} overflow="hidden">
      {layout.title && <Text dimColor>{truncate(`Sign-ins at ${host}, by UTC day`, width, glyphs.ellipsis)}</Text>}
      <Cards stats={state.stats} days={days} layout={layout} glyphs={glyphs} />
      <Box flexGrow={1} paddingTop={layout.spaced ? 1 : 0} overflow="hidden">
        <Body state={state} view={shown} layout={layout} glyphs={glyphs} />
      </Box>
      <Footer state={state} isAuto={isAuto} layout={layout} glyphs={glyphs} />
    </Box>
  );
}

function Body({ state: { stats, isLoading }, view, layout, glyphs }: { state: LoadState; view: View; layout: Layout; glyphs: Glyphs }) {
  if (layout.panes === 'none') return null;
  if (!stats) return <Text dimColor>{isLoading ? `Loading the statistics${glyphs.ellipsis}` : 'There are no statistics yet.'}</Text>;
  const { chosen, first, pane } = view;
  const chart = (
    <Chart days={stats.days.slice(0, CHART_DAYS)} chosen={chosen} isFocused={pane === 'chart'} size={layout.chart} glyphs={glyphs} />
  );
  const list = <DayList days={stats.days} first={first} chosen={chosen} isFocused={pane === 'list'} size={layout.list} glyphs={glyphs} />;
  if (layout.panes === 'one') return pane === 'chart' ? chart : list;
  return (
    <Box flexDirection={layout.panes === 'beside' ? 'row' : 'column'} columnGap={4} rowGap={1}>
      {chart}
      {list}
    </Box>
  );
}

/** Calls back when a day has started since the previous statistics. */
function useNewDays(stats: LoginStats | null, onNewDays: (newer: number) => void): void {
  const newest = useRef<string>(undefined);
  useEffect(() => {
    const before = newest.current;
    newest.current = stats?.days[0]?.date;
    const newer = stats?.days.findIndex(({ date }) => date === before) ?? -1;
    if (newer > 0) onNewDays(newer);
  });
}

type KeyName = ViewKey | 'refresh' | 'auto' | 'quit' | 'escape';

const LETTERS: Readonly<Record<string, KeyName>> = { j: 'down', k: 'up', r: 'refresh', a: 'auto', q: 'quit', '?': 'help', '\x03': 'quit' };
const NAMED_KEYS = {
  leftArrow: 'left',
  rightArrow: 'right',
  upArrow: 'up',
  downArrow: 'down',
  pageUp: 'pageUp',
  pageDown: 'pageDown',
  home: 'home',
  end: 'end',
  tab: 'tab',
  escape: 'escape',
} as const;

/** Calls back with each known key; keys that arrive together, held down or pasted, one by one. */
function useKeys(onKey: (key: KeyName) => void): void {
  useInput((input, key) => {
    if (key.ctrl && input === 'c') return onKey('quit');
    for (const [flag, name] of Object.entries(NAMED_KEYS)) if (key[flag as keyof typeof NAMED_KEYS]) return onKey(name);
    if (key.ctrl || key.meta) return;
    for (const letter of input) if (LETTERS[letter]) onKey(LETTERS[letter]);
  });
}

/** Requests the statistics. @param options.reopen opens a session that has ended again, as the person asked for */
export type Load = (options: { reopen: boolean; signal: AbortSignal }) => Promise<LoginStats>;

export const AUTO_REFRESH_MS = 60_000;

/** The last statistics, which stay while newer ones load or fail. `error` has several wordings, longest first; empty: no error. */
type LoadState = { stats: LoginStats | null; at: Date | null; isLoading: boolean; error: readonly string[] };

/** Loads the statistics immediately, when `refresh` is called, and every minute with `isAuto`. */
function useStats(load: Load, isAuto: boolean): LoadState & { refresh: (reopen: boolean) => void } {
  const [state, setState] = useState<LoadState>({ stats: null, at: null, isLoading: true, error: [] });
  const running = useRef<AbortController | null>(null);

  const start = useCallback(
    async (reopen: boolean) => {
      if (running.current) return;
      const stop = new AbortController();
      running.current = stop;
      setState((before) => ({ ...before, isLoading: true }));
      try {
        const stats = await load({ reopen, signal: stop.signal });
        if (!stop.signal.aborted) setState({ stats, at: new Date(), isLoading: false, error: [] });
      } catch (error) {
        if (!stop.signal.aborted) setState((before) => ({ ...before, isLoading: false, error: describeError(error) }));
      } finally {
        running.current = null;
      }
    },
    [load],
  );

  useEffect(() => {
    start(false);
    return () => running.current?.abort();
  }, [start]);

  useEffect(() => {
    if (!isAuto) return;
    const timer = setInterval(() => start(false), AUTO_REFRESH_MS);
    return () => clearInterval(timer);
  }, [isAuto, start]);

  return { ...state, refresh: start };
}

/** Returns what happened with what to do next, and without it. */
function describeError(error: unknown): string[] {
  const { code, message, hint } = describeFailure(error);
  const next = ['admin_session_ended', 'bad_password', 'rate_limited'].includes(code) ? hint : 'Press r to try again.';
  // The host is shown above the statistics.
  const what = code === 'unreachable' ? 'The service cannot be reached.' : sanitize(message.split('\n')[0]);
  return [`${what} ${next}`, what];
}

type CardsProps = { stats: LoginStats | null; days: number; layout: Layout; glyphs: Glyphs };

/** Today, the total and the average: as three boxes, or in one line where these do not fit. */
function Cards({ stats, days, layout, glyphs }: CardsProps) {
  const numbers = stats && [stats.today, stats.total, stats.average];
  const long = ['Today', days === 1 ? 'Total, 1 day' : `Total, ${days} days`, 'Average a day'];
  const short = ['Today', days === 1 ? '1 day' : `${days} days`, 'A day'];
  if (layout.cards === 'line') return <Line numbers={numbers} long={long} short={short} layout={layout} glyphs={glyphs} />;
  const room = layout.cardWidth - 4;
  const labels = long.every(({ length }) => length <= room) ? long : short;
  return (
    <Box columnGap={1}>
      {labels.map((label, i) => (
        <Box
          key={label}
          width={layout.cardWidth}
          paddingX={1}
          flexDirection="column"
          borderStyle={glyphs.border}
          borderDimColor
          flexShrink={0}
        >
          <Text dimColor wrap="truncate">
            {label}
          </Text>
          <Text bold wrap="truncate">
            {numbers ? firstFitting([formatCount(numbers[i]), formatShort(numbers[i])], room, glyphs.ellipsis) : glyphs.ellipsis}
          </Text>
        </Box>
      ))}
    </Box>
  );
}

type LineProps = { numbers: number[] | null; long: string[]; short: string[]; layout: Layout; glyphs: Glyphs };

function Line({ numbers, long, short, layout, glyphs }: LineProps) {
  const line = (labels: string[], format: (count: number) => string) =>
    labels.map((label, i) => `${label} ${numbers ? format(numbers[i]) : glyphs.ellipsis}`).join(` ${glyphs.dot} `);
  const texts = [
    line(long, formatCount),
    line(short, formatCount),
    line(short, formatShort),
    line(short.slice(0, 2), formatShort),
    line(short.slice(0, 1), formatShort),
  ];
  return (
    <Text bold wrap="truncate">
      {firstFitting(texts, layout.columns - 2 * layout.margin, glyphs.ellipsis)}
    </Text>
  );
}

type FooterProps = { state: LoadState; isAuto: boolean; layout: Layout; glyphs: Glyphs };

/** The time of the statistics, and the keys, or an error in their place. */
function Footer({ state: { at, isLoading, error }, isAuto, layout, glyphs }: FooterProps) {
  const width = layout.columns - 2 * layout.margin;
  const auto = isAuto ? 'every minute' : 'off';
  const time = at ? clockTime(at) : '';
  const when = isLoading ? `${at ? 'Refreshing' : 'Loading'}${glyphs.ellipsis}` : time ? `Refreshed at ${time}` : 'Not loaded';
  const status = [`${when} ${glyphs.dot} auto-refresh ${auto}`, `${time || when} ${glyphs.dot} auto ${isAuto ? 'on' : 'off'}`, time];
  const keys = [
    `${glyphs.sideways} day  ${glyphs.upAndDown} scroll  Tab pane  r refresh  a auto-refresh  ? help  q quit`,
    `${glyphs.sideways} day  ${glyphs.upAndDown} scroll  r refresh  ? help  q quit`,
    `${glyphs.sideways} day  ${glyphs.upAndDown} scroll  ? help  q quit`,
    `${glyphs.sideways} day  ? help  q quit`,
    '? help  q quit',
    '? help',
  ];
  return (
    <Box flexDirection="column" flexShrink={0}>
      {(layout.footer === 2 || error.length === 0) && <Text wrap="truncate">{firstFitting(status, width, glyphs.ellipsis)}</Text>}
      {error.length > 0 ? (
        <Text color="red" wrap="truncate">
          {firstFitting(error, width, glyphs.ellipsis)}
        </Text>
      ) : (
        layout.footer === 2 && (
          <Text dimColor wrap="truncate">
            {firstFitting(keys, width, glyphs.ellipsis)}
          </Text>
        )
      )}
    </Box>
  );
}

/** A screen with every key and its meaning. */
function Help({ layout: { columns, rows, margin }, glyphs }: { layout: Layout; glyphs: Glyphs }) {
  const keys = [
    [glyphs.sideways, 'choose a day'],
    [`${glyphs.upAndDown} j/k`, 'scroll the list'],
    ['PgUp/PgDn', 'scroll by a page'],
    ['Home/End', 'first or last of the pane'],
    ['Tab', 'the other pane'],
    ['r', 'refresh'],
    ['a', 'auto-refresh on or off'],
    ['?', 'this help, and back'],
    ['q Esc Ctrl-C', 'quit'],
  ];
  const keyWidth = Math.max(...keys.map(([key]) => key.length)) + 2;
  return (
    <Box flexDirection="column" width={columns} height={rows} paddingX={margin} overflow="hidden">
      {rows > keys.length && <Text bold>Keys</Text>}
      {keys.map(([key, meaning]) => (
        <Text key={key} wrap="truncate">
          {truncate(key.padEnd(keyWidth) + meaning, columns - 2 * margin, glyphs.ellipsis)}
        </Text>
      ))}
    </Box>
  );
}
