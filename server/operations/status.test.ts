import { describe, expect, test } from 'vitest';
import type { History, Probe } from './probes.ts';
import { stateOf, summaryOf } from './status.ts';

const probe = (changes: Partial<Probe> = {}): Probe => ({
  at: 0,
  checkedAt: new Date(0),
  databaseMs: 1,
  responseMs: 2,
  failed: [],
  ...changes,
});

describe('the state', () => {
  test('is operational while every probe succeeds quickly', () => {
    expect(stateOf(probe()).state).toBe('operational');
  });

  test.each([
    ['degraded', { failed: ['mail'] }],
    ['degraded', { databaseMs: 501 }],
    ['degraded', { responseMs: 1001 }],
    ['down', { failed: ['database'], databaseMs: null }],
    ['down', { failed: ['mail', 'response'], responseMs: null }],
  ] as const)('is %s for %j', (state, changes) => {
    expect(stateOf(probe({ ...changes, failed: [...('failed' in changes ? changes.failed : [])] })).state).toBe(state);
  });
});

describe('the summary', () => {
  const history = (measured: number, failed: number, recent = false): History => ({
    since: new Date(0),
    responseMs: 3.456,
    days: [
      { date: '2026-03-01', measured: 0, failed: 0 },
      { date: '2026-03-02', measured, failed },
    ],
    incidents: [{ startedAt: new Date(0), endedAt: new Date(180_000), components: ['mail'], recent }],
  });

  test('has no averages for less than an hour', () => {
    expect(summaryOf(history(59, 0), false)).toMatchObject({ uptimePercent: null, responseMs: null });
    expect(summaryOf(history(60, 0), false)).toMatchObject({ uptimePercent: 100, responseMs: 3.5 });
  });

  test('rounds the uptime down', () => {
    expect(summaryOf(history(43_200, 1), false).uptimePercent).toBe(99.99);
  });

  test('shows a recent incident as ongoing while the probes fail', () => {
    const end = (recent: boolean, failing: boolean) => summaryOf(history(60, 3, recent), failing).incidents[0].endedAt;
    expect([end(true, true), end(true, false), end(false, true)]).toEqual([null, '1970-01-01T00:03:00.000Z', '1970-01-01T00:03:00.000Z']);
    expect(summaryOf(history(60, 3), false).incidents[0].minutes).toBe(3);
  });
});
