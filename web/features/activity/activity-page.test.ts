import { expect, test } from 'vitest';
import { activityPath, filterOf } from './activity-page.tsx';

test.each(['', '?action=website&domain=shop.example', '?from=2026-01-01&to=2026-02-28'])('%j is read and written', (query) => {
  expect(activityPath(filterOf(new URLSearchParams(query)))).toBe(`/dashboard/activity${query}`);
});

test.each(['?action=none', '?from=yesterday', '?to=2026-13-01', '?domain=%20'])('%j is no condition', (query) => {
  expect(filterOf(new URLSearchParams(query))).toEqual({ action: '', domain: '', from: '', to: '' });
});
