import { expect, test } from 'vitest';
import { afterKey, clampView, FIRST_VIEW, type View, type ViewKey } from './view.ts';

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
