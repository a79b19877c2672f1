import { describe, expect, test } from 'vitest';
import { mergeSources } from './events.ts';
import type { EventRow, Source } from './store.ts';

const row = (id: number, at: number): EventRow => ({
  id,
  at: new Date(at),
  domain: 'shop.example',
  application: null,
  isOpenId: false,
  kind: 'requested',
  reason: null,
  email: null,
  count: 1,
  proven: true,
  visible: true,
});
const all = (...rows: [number, number][]): Source => ({
  rows: rows.map(([id, at]) => row(id, at)),
  end: rows.at(-1)?.[0] ?? 9,
  endAt: null,
});
const START = { audit: 0, event: 0 };

describe('the rows of two sources', () => {
  test('are in the order of time', () => {
    const { rows, end, more } = mergeSources({ audit: all([1, 10], [2, 30]), event: all([1, 20], [2, 40]) }, START);
    expect([rows.map(({ key }) => key), end, more]).toEqual([['a1', 'e1', 'a2', 'e2'], { audit: 2, event: 2 }, false]);
  });

  test('end where a source that has more ends, so that later rows come with the next call', () => {
    const audit = { ...all([1, 10], [2, 30]), endAt: new Date(30) };
    const { rows, end, more } = mergeSources({ audit, event: all([1, 20], [2, 40]) }, START);
    expect([rows.map(({ key }) => key), end, more]).toEqual([['a1', 'e1', 'a2'], { audit: 2, event: 1 }, true]);
  });

  test('keep their place when no row of a source is early enough', () => {
    const audit = { ...all([5, 10]), endAt: new Date(10) };
    expect(mergeSources({ audit, event: all([8, 40]) }, { audit: 4, event: 7 }).end).toEqual({ audit: 5, event: 7 });
  });

  test('are all returned once when times do not follow the numbers, in pages of any size', () => {
    const sources = {
      audit: Array.from({ length: 40 }, (_, i) => row(i + 1, (i * 37) % 50)),
      event: Array.from({ length: 40 }, (_, i) => row(i + 1, (i * 23) % 60)),
    };
    const read = (rows: EventRow[], after: number, size: number): Source => {
      const page = rows.filter(({ id }) => id > after).slice(0, size);
      const last = page.at(-1);
      const hasMore = last !== undefined && last.id < rows.length;
      return { rows: page, end: last?.id ?? after, endAt: hasMore ? last.at : null };
    };
    for (const size of [1, 3, 7]) {
      const keys: string[] = [];
      let at = START;
      for (let more = true; more; ) {
        const merged = mergeSources({ audit: read(sources.audit, at.audit, size), event: read(sources.event, at.event, size) }, at);
        keys.push(...merged.rows.map(({ key }) => key));
        ({ end: at, more } = merged);
      }
      expect([keys.length, new Set(keys).size]).toEqual([80, 80]);
    }
  });

  test('are left out when they are from before the owner had the website, and are not read again', () => {
    const audit = all([1, 10]);
    audit.rows[0].visible = false;
    expect(mergeSources({ audit, event: all() }, START)).toEqual({ rows: [], end: { audit: 1, event: 9 }, more: false });
  });
});
