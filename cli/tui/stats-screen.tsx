import { Box, Text } from 'ink';
import { useEffect, useRef, useState } from 'react';
import type { Figures } from '../stats.ts';
import { Cards } from './cards.tsx';
import { Chart } from './chart.tsx';
import { DayList } from './day-list.tsx';
import { Footer } from './footer.tsx';
import type { Glyphs } from './glyphs.ts';
import { Help } from './help.tsx';
import { type Layout, layoutOf } from './layout.ts';
import { type KeyName, useKeys } from './use-keys.ts';
import { type Load, type Loaded, useStats } from './use-stats.ts';
import { afterKey, FIRST_VIEW, type View, within } from './view.ts';
import { cut } from './words.ts';

const CHART_DAYS = 14;

type Props = {
  host: string;
  /** Of the list. */
  days: number;
  load: Load;
  size: { columns: number; rows: number };
  glyphs: Glyphs;
  onQuit: () => void;
};

/** The whole screen of `emailauth stats`. */
export function StatsScreen({ host, days, load, size, glyphs, onQuit }: Props) {
  const [isAuto, setAuto] = useState(false);
  const { refresh, ...loaded } = useStats(load, isAuto);
  const [view, setView] = useState(FIRST_VIEW);
  const layout = layoutOf(size.columns, size.rows, days);
  const extent = { chart: Math.min(CHART_DAYS, days), list: days, rows: layout.list.rows };
  const shown = within(view, 0, extent);

  useEachNewDay(loaded.figures, (newer) => setView((before) => within(before, newer, extent)));
  useKeys((key: KeyName) => {
    if (key === 'quit' || (key === 'escape' && !shown.help)) onQuit();
    else if (key === 'refresh') refresh(true);
    else if (key === 'auto') {
      if (!isAuto) refresh(false);
      setAuto(!isAuto);
    } else if (key === 'escape' || key === 'help') setView((before) => afterKey(before, 'help', extent));
    else if (!shown.help) setView((before) => afterKey(within(before, 0, extent), key, extent));
  });

  if (shown.help) return <Help layout={layout} glyphs={glyphs} />;
  const width = layout.columns - 2 * layout.margin;
  return (
    <Box flexDirection="column" width={layout.columns} height={layout.rows} paddingX={layout.margin} overflow="hidden">
      {layout.title && <Text dimColor>{cut(`Sign-ins at ${host}, by UTC day`, width, glyphs.ellipsis)}</Text>}
      <Cards figures={loaded.figures} days={days} layout={layout} glyphs={glyphs} />
      <Box flexGrow={1} paddingTop={layout.spaced ? 1 : 0} overflow="hidden">
        <Body loaded={loaded} view={shown} layout={layout} glyphs={glyphs} />
      </Box>
      <Footer loaded={loaded} isAuto={isAuto} layout={layout} glyphs={glyphs} />
    </Box>
  );
}

function Body({ loaded: { figures, isLoading }, view, layout, glyphs }: { loaded: Loaded; view: View; layout: Layout; glyphs: Glyphs }) {
  if (layout.panes === 'none') return null;
  if (!figures) return <Text dimColor>{isLoading ? `Loading the figures${glyphs.ellipsis}` : 'There are no figures yet.'}</Text>;
  const { chosen, first, pane } = view;
  const chart = (
    <Chart days={figures.days.slice(0, CHART_DAYS)} chosen={chosen} isInUse={pane === 'chart'} size={layout.chart} glyphs={glyphs} />
  );
  const list = <DayList days={figures.days} first={first} chosen={chosen} isInUse={pane === 'list'} size={layout.list} glyphs={glyphs} />;
  if (layout.panes === 'one') return pane === 'chart' ? chart : list;
  return (
    <Box flexDirection={layout.panes === 'beside' ? 'row' : 'column'} columnGap={4} rowGap={1}>
      {chart}
      {list}
    </Box>
  );
}

/** Calls back when a day has begun since the figures before. */
function useEachNewDay(figures: Figures | null, onNewDays: (newer: number) => void): void {
  const newest = useRef<string>(undefined);
  useEffect(() => {
    const before = newest.current;
    newest.current = figures?.days[0]?.date;
    const newer = figures?.days.findIndex(({ date }) => date === before) ?? -1;
    if (newer > 0) onNewDays(newer);
  });
}
