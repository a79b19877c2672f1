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
export type Extent = { chart: number; list: number; rows: number };

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
