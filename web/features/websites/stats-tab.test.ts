import { expect, test } from 'vitest';
import { methodsOf, percentOf } from './stats-tab.tsx';

test('a share is in whole percent, and only a whole is 100%', () => {
  expect([
    percentOf(1, 3),
    percentOf(999, 1000),
    percentOf(3, 3),
    percentOf(5, 4),
    percentOf(0, 4),
    percentOf(1, 400),
    percentOf(0, 0),
  ]).toEqual(['33%', '99%', '100%', '100%', '0%', '< 1%', null]);
  expect(percentOf(1, 2, 'of requested')).toBe('50% of requested');
});

test('each sign-in has one method', () => {
  const total = {
    sent: 9,
    opened: 5,
    openedByCode: 2,
    again: 12,
    byPasskey: 4,
    byVerifiedEmail: 1,
    completed: 9,
    completedAgain: 6,
    openIdAgain: 1,
    openIdSent: 0,
    openIdOpened: 3,
  };
  expect(methodsOf(total)).toEqual({ link: 3, code: 2, passkey: 4, verified_email: 1, remembered: 7, openId: 3 });
});
