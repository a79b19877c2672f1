import { expect, test } from 'vitest';
import type { LiveEvent } from './live-events.tsx';
import { filtersOf, NO_FILTERS, parametersOf, passes, queryOf } from './log-filters.tsx';

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
  count: 1,
  ...changes,
});

test('the URL has the filters that are set, and ignores what is not valid', () => {
  const filters = { email: 'ann@', status: 'token_refused used', from: '2026-03-05', to: '' };
  expect(filtersOf(new URLSearchParams(parametersOf(filters)))).toEqual(filters);
  expect(parametersOf(NO_FILTERS)).toEqual({});
  expect(filtersOf(new URLSearchParams('status=hacked&from=yesterday&to=2026-13-45'))).toEqual(NO_FILTERS);
});

test('the last day is included', () => {
  expect(queryOf({ ...NO_FILTERS, from: '2026-03-05', to: '2026-03-05' })).toEqual({
    from: '2026-03-05T00:00:00.000Z',
    to: '2026-03-06T00:00:00.000Z',
  });
  expect(queryOf({ ...NO_FILTERS, status: 'problems' })).toEqual({ problems: 'true' });
  expect(queryOf({ ...NO_FILTERS, status: 'opened code' })).toEqual({ kind: 'opened', reason: 'code' });
});

test('a later event passes the filters as the service decides', () => {
  const with_ = (changes: object) => passes(event({}), { ...NO_FILTERS, ...changes });
  expect([{}, { email: ' ANN' }, { status: 'problems' }, { status: 'token_refused' }, { to: '2026-03-05' }].map(with_)).toEqual(
    Array(5).fill(true),
  );
  expect(
    [{ email: 'nn@' }, { status: 'verified' }, { status: 'token_refused unknown' }, { from: '2026-03-06' }, { to: '2026-03-04' }].map(
      with_,
    ),
  ).toEqual(Array(5).fill(false));
  expect(passes(event({ email: null }), { ...NO_FILTERS, email: 'a' })).toBe(false);
});
