/** The parts of the screen that are drawn, and their sizes in characters. */
export type Layout = {
  columns: number;
  rows: number;
  /** Empty columns on either side. */
  margin: number;
  title: boolean;
  /** Three boxes side by side, or all in one line. */
  cards: 'boxes' | 'line';
  cardWidth: number;
  /** An empty line below the cards. */
  spaced: boolean;
  /** Chart and list side by side, stacked, or only the one with the focus; none when neither fits. */
  panes: 'beside' | 'stacked' | 'one' | 'none';
  chart: { width: number; bars: number; labels: 1 | 2 };
  list: { width: number; rows: number };
  /** One line for the status, and one for the keys and errors. */
  footer: 1 | 2;
};

const BESIDE_COLUMNS = 110;
const MAX_BARS = 36;

/** Returns the layout for a terminal. @param days in the list */
export function layoutOf(columns: number, rows: number, days: number): Layout {
  const margin = columns >= 160 ? 2 : columns >= 60 ? 1 : 0;
  const width = columns - 2 * margin;
  const title = rows >= 16;
  const cards = rows >= 20 && width >= 38 ? 'boxes' : 'line';
  const spaced = rows >= 16 && cards === 'line';
  const footer = rows >= 9 ? 2 : 1;
  const body = rows - (title ? 1 : 0) - (cards === 'boxes' ? 4 : 1) - (spaced ? 1 : 0) - footer;

  const panes = body < 4 ? 'none' : columns >= BESIDE_COLUMNS && body >= 7 ? 'beside' : body >= 12 ? 'stacked' : 'one';
  const listWidth = panes === 'beside' ? Math.min(64, Math.floor(width * 0.36)) : width;
  const chartWidth = panes === 'beside' ? width - listWidth - 4 : width;

  const [chartHeight, listHeight] = heights(panes, body, days);
  const labels = chartHeight >= 9 ? 2 : 1;
  return {
    columns,
    rows,
    margin,
    title,
    cards,
    cardWidth: Math.floor((chartWidth - 2) / 3),
    spaced,
    panes,
    chart: { width: chartWidth, bars: Math.min(MAX_BARS, Math.max(1, chartHeight - 2 - labels)), labels },
    list: { width: listWidth, rows: Math.min(days, Math.max(1, listHeight - 1)) },
    footer,
  };
}

/** Returns the heights of the chart and the list, headings included. */
function heights(panes: Layout['panes'], body: number, days: number): [chart: number, list: number] {
  if (panes !== 'stacked') return [body, body];
  const room = body - 1;
  const chart = Math.max(7, Math.round(room * 0.6));
  // A short list leaves the remaining rows to the chart.
  const list = Math.min(days + 1, room - Math.min(chart, MAX_BARS + 4));
  return [room - list, list];
}

/** The part of the statistics that is shown. */
export type View = {
  /** The chosen day: 0 is the newest. */
  chosen: number;
  /** The day at the top of the list. */
  first: number;
  pane: 'chart' | 'list';
  help: boolean;
};

/** Keys that change the view. */
export type ViewKey = 'left' | 'right' | 'up' | 'down' | 'pageUp' | 'pageDown' | 'home' | 'end' | 'tab' | 'help';

/** The sizes that limit a view: days of the chart, days of the list, and rows of the list on the screen. */
type Extent = { chart: number; list: number; rows: number };

export const FIRST_VIEW: View = { chosen: 0, first: 0, pane: 'chart', help: false };

/** Returns the view after a key. A key of a pane moves the focus to it, so that it is visible where only one fits. */
export function afterKey(view: View, key: ViewKey, extent: Extent): View {
  const { chosen, first, pane } = view;
  switch (key) {
    case 'help':
      return { ...view, help: !view.help };
    case 'tab':
      return { ...view, pane: pane === 'chart' ? 'list' : 'chart' };
    case 'left':
      return choose(view, chosen + 1, extent);
    case 'right':
      return choose(view, chosen - 1, extent);
    case 'up':
      return scroll(view, first - 1, extent);
    case 'down':
      return scroll(view, first + 1, extent);
    case 'pageUp':
      return scroll(view, first - extent.rows, extent);
    case 'pageDown':
      return scroll(view, first + extent.rows, extent);
    case 'home':
      return pane === 'chart' ? choose(view, extent.chart - 1, extent) : scroll(view, 0, extent);
    case 'end':
      return pane === 'chart' ? choose(view, 0, extent) : scroll(view, extent.list, extent);
  }
}

/** Returns the view after days were added or fewer lines fit; the chosen day stays if the chart still has it. @param newer days that were added */
export function clampView(view: View, newer: number, extent: Extent): View {
  const chosen = view.chosen === 0 ? 0 : clamp(view.chosen + newer, extent.chart - 1);
  return { ...view, chosen, first: clamp(view.first, extent.list - extent.rows) };
}

/** Chooses a day and scrolls the list to it. */
function choose(view: View, day: number, { chart, list, rows }: Extent): View {
  const chosen = clamp(day, chart - 1);
  const first = Math.min(chosen, Math.max(view.first, chosen - rows + 1));
  return { ...view, chosen, first: clamp(first, list - rows), pane: 'chart' };
}

function scroll(view: View, first: number, { list, rows }: Extent): View {
  return { ...view, first: clamp(first, list - rows), pane: 'list' };
}

const clamp = (value: number, max: number) => Math.min(Math.max(0, value), Math.max(0, max));
