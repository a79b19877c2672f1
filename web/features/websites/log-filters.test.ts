import { expect, test } from 'vitest';
import type { LiveEvent } from './live-events.tsx';
import { filtersOf, NO_FILTERS, parametersOf, passes, queryOf, statusOf } from './log-filters.tsx';
import { signInsOf } from './sign-ins.tsx';

const event = (changes: Partial<LiveEvent>): LiveEvent => ({
  id: 'a1',
  at: '2026-03-05T12:00:00.000Z',
  domain: 'shop.example',
  name: 'shop.example',
  kind: 'token_refused',
  reason: 'used',
  email: 'ann@mail.example',
  level: 'problem',
  text: '',
  fix: null,
  signIn: null,
  state: null,
  count: 1,
  ...changes,
});

const NOW = Date.parse('2026-03-05T12:01:00.000Z');
const requested = event({ kind: 'requested', reason: null, level: 'info', signIn: 's1', state: 'waiting' });
const opened = event({ id: 'a2', kind: 'opened', reason: 'code', level: 'info', signIn: 's1', state: 'unverified' });

test('the URL has the filters that are set, and ignores what is not valid', () => {
  const filters = { email: 'ann@', status: 'token_refused used', method: 'code', from: '2026-03-05', to: '' };
  expect(filtersOf(new URLSearchParams(parametersOf(filters)))).toEqual(filters);
  expect(parametersOf(NO_FILTERS)).toEqual({});
  expect(filtersOf(new URLSearchParams('status=hacked&method=magic&from=yesterday&to=2026-13-45'))).toEqual(NO_FILTERS);
});

test('the last day is included', () => {
  expect(queryOf({ ...NO_FILTERS, from: '2026-03-05', to: '2026-03-05' })).toEqual({
    from: '2026-03-05T00:00:00.000Z',
    to: '2026-03-06T00:00:00.000Z',
  });
  expect(queryOf({ ...NO_FILTERS, status: 'problems' })).toEqual({ problems: 'true' });
  expect(queryOf({ ...NO_FILTERS, status: 'opened code' })).toEqual({ kind: 'opened', reason: 'code' });
  expect(queryOf({ ...NO_FILTERS, status: statusOf('unverified'), method: 'link' })).toEqual({ state: 'unverified', method: 'link' });
});

test('a later event passes the filters as the service decides', () => {
  const with_ = (changes: object) => passes([event({})], { ...NO_FILTERS, ...changes }, NOW);
  expect([{}, { email: ' ANN' }, { status: 'problems' }, { status: 'token_refused' }, { to: '2026-03-05' }].map(with_)).toEqual(
    Array(5).fill(true),
  );
  expect(
    [{ email: 'nn@' }, { status: 'verified' }, { status: 'token_refused unknown' }, { from: '2026-03-06' }, { to: '2026-03-04' }].map(
      with_,
    ),
  ).toEqual(Array(5).fill(false));
  expect(passes([event({ email: null })], { ...NO_FILTERS, email: 'a' }, NOW)).toBe(false);
});

test('a sign-in passes by its state, its method and any of its steps', () => {
  const with_ = (changes: object, now = NOW) => passes([requested, opened], { ...NO_FILTERS, ...changes }, now);
  expect([{ status: statusOf('unverified') }, { method: 'code' }, { status: 'requested' }].map((changes) => with_(changes))).toEqual(
    Array(3).fill(true),
  );
  expect([{ status: statusOf('sent') }, { method: 'link' }, { status: 'verified' }].map((changes) => with_(changes))).toEqual(
    Array(3).fill(false),
  );
  const waiting = { ...NO_FILTERS, status: statusOf('ended') };
  expect([NOW, NOW + 600_000].map((now) => passes([requested], waiting, now))).toEqual([false, true]);
});

test('a later step changes the row of its sign-in, and only a first step adds one', () => {
  const other = event({ id: 'b1', kind: 'requested', signIn: 's2', state: 'waiting' });
  const unknown = event({ id: 'c2', kind: 'verified', signIn: 's3', state: 'signed_in' });
  const rows = (partial: boolean) => {
    const { later, earlier } = signInsOf([requested], [requested, opened, other, unknown], partial);
    return [later, earlier].map((signIns) => signIns.map(({ steps }) => steps.map(({ id }) => id)));
  };
  expect(rows(false)).toEqual([[['b1']], [['a1', 'a2']]]);
  expect(rows(true)).toEqual([[['c2'], ['b1']], [['a1', 'a2']]]);
});
