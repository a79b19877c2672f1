import { expect, test } from 'vitest';
import { afterKey, clampView, FIRST_VIEW, layoutOf, type View, type ViewKey } from './layout.ts';

test.each([
  [
    80,
    24,
    { title: true, cards: 'boxes', panes: 'stacked', chart: { width: 78, bars: 6, labels: 2 }, list: { width: 78, rows: 5 }, footer: 2 },
  ],
  [
    40,
    20,
    { title: true, cards: 'boxes', panes: 'stacked', chart: { width: 40, bars: 4, labels: 1 }, list: { width: 40, rows: 4 }, footer: 2 },
  ],
  [200, 50, { title: true, cards: 'boxes', panes: 'beside', cardWidth: 42, list: { width: 64, rows: 30 } }],
  [
    80,
    10,
    { title: false, cards: 'line', panes: 'one', chart: { width: 78, bars: 4, labels: 1 }, list: { width: 78, rows: 6 }, footer: 2 },
  ],
  [20, 6, { title: false, cards: 'line', panes: 'one', chart: { width: 20, bars: 1, labels: 1 }, list: { width: 20, rows: 3 }, footer: 1 }],
  [20, 3, { title: false, cards: 'line', panes: 'none', footer: 1 }],
] as const)('%d × %d', (columns, rows, expected) => expect(layoutOf(columns, rows, 30)).toMatchObject(expected));

test('everything fits at any size', () => {
  const wrong = [];
  for (const days of [1, 7, 30]) {
    for (let columns = 16; columns <= 260; columns += 3) {
      for (let rows = 3; rows <= 90; rows++) {
        const { title, cards, spaced, panes, chart, list, cardWidth, footer, margin } = layoutOf(columns, rows, days);
        const [chartHeight, listHeight] = [1 + chart.bars + 1 + chart.labels, 1 + list.rows];
        const higher = Math.max(chartHeight, listHeight);
        const body = { beside: higher, stacked: chartHeight + 1 + listHeight, one: higher, none: 0 }[panes];
        const height = (title ? 1 : 0) + (cards === 'boxes' ? 4 : 1) + (spaced ? 1 : 0) + body + footer;
        const width = panes === 'beside' ? chart.width + 4 + list.width : chart.width;
        const fits = height <= rows && width === columns - 2 * margin && list.rows <= days && (cards === 'line' || cardWidth >= 12);
        if (!fits) wrong.push(`${columns} × ${rows}, ${days} days: ${width} × ${height}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

const extent = { chart: 14, list: 30, rows: 5 };
const press = (...keys: ViewKey[]) => keys.reduce((view, key) => afterKey(view, key, extent), FIRST_VIEW);
const times = (many: number, key: ViewKey) => Array.from({ length: many }, () => key);

test.each<[string, ViewKey[], Partial<View>]>([
  ['left is the day before', ['left', 'left'], { chosen: 2, pane: 'chart' }],
  ['right is the day after', ['left', 'left', 'right'], { chosen: 1 }],
  ['there is no day after today', ['right'], { chosen: 0 }],
  ['the chart ends after 14 days', times(20, 'left'), { chosen: 13 }],
  ['the list follows the chosen day down', times(6, 'left'), { chosen: 6, first: 2 }],
  ['and up', [...times(13, 'left'), ...times(9, 'right')], { chosen: 4, first: 4 }],
  ['down scrolls', ['down', 'down', 'up'], { first: 1, chosen: 0, pane: 'list' }],
  ['the list ends with its last day', times(40, 'down'), { first: 25 }],
  ['and begins with its first', ['up'], { first: 0 }],
  ['a page', ['pageDown', 'pageDown', 'pageUp'], { first: 5 }],
  ['Home of the chart is its oldest day', ['home'], { chosen: 13, pane: 'chart' }],
  ['End of the chart is today', ['home', 'end'], { chosen: 0 }],
  ['End of the list', ['tab', 'end'], { first: 25, pane: 'list' }],
  ['Home of the list', ['tab', 'end', 'home'], { first: 0 }],
  ['Tab goes there and back', ['tab', 'tab'], { pane: 'chart' }],
  ['a key of the chart goes there', ['down', 'left'], { pane: 'chart' }],
  ['help goes on and off', ['help', 'left', 'help'], { help: false }],
])('%s', (_, keys, expected) => expect(press(...keys)).toMatchObject(expected));

test('the chosen day stays chosen when a day is added, and the newest stays the newest', () => {
  expect(clampView({ ...FIRST_VIEW, chosen: 3 }, 1, extent).chosen).toBe(4);
  expect(clampView({ ...FIRST_VIEW, chosen: 13 }, 1, extent).chosen).toBe(13);
  expect(clampView(FIRST_VIEW, 1, extent).chosen).toBe(0);
});

test('a larger terminal leaves no gap at the end of the list', () => {
  expect(clampView({ ...FIRST_VIEW, first: 25 }, 0, { ...extent, rows: 20 }).first).toBe(10);
  expect(clampView({ ...FIRST_VIEW, first: 25 }, 0, { ...extent, rows: 30 }).first).toBe(0);
});
