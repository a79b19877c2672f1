import { Box, Text, useInput } from 'ink';
import { useEffect, useRef, useState } from 'react';
import type { LoginStats } from '../stats.ts';
import { Cards } from './cards.tsx';
import { Chart } from './chart.tsx';
import { Footer, Help } from './chrome.tsx';
import { DayList } from './day-list.tsx';
import type { Glyphs } from './glyphs.ts';
import { type Layout, layoutOf } from './layout.ts';
import { type Load, type LoadState, useStats } from './use-stats.ts';
import { afterKey, clampView, FIRST_VIEW, type View, type ViewKey } from './view.ts';
import { truncate } from './words.ts';

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
