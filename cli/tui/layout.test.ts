import { expect, test } from 'vitest';
import { layoutOf } from './layout.ts';

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
