import { expect, test } from 'vitest';
import { type SetupFacts, setupSteps } from './setup-steps.ts';

const [early, middle, late] = [1, 2, 3].map((hour) => new Date(Date.UTC(2026, 0, 1, hour)));
const nothing: SetupFacts = {
  domain: 'shop.example',
  isProven: false,
  wasProven: false,
  check: null,
  verifiedAt: null,
  localAt: null,
  verifiedBefore: false,
  requestedAt: null,
  openedAt: null,
  refusal: null,
  mail: { isLocal: false, isFailing: false, acceptedAt: null, acceptedBefore: false, problem: null },
};
const result = (id: string, ok: boolean | null) => ({ id, ok, detail: `${id} ${ok}.`, fix: ok ? '' : 'Fix it.' });
const checked = (...results: [string, boolean | null][]) => ({ at: middle, results: results.map(([id, ok]) => result(id, ok)) });
const stateOf = (step: string, facts: Partial<SetupFacts>) =>
  setupSteps({ ...nothing, ...facts }).find((each) => each.step === step)?.state;
const withMail = (mail: Partial<SetupFacts['mail']>) => stateOf('mail', { mail: { ...nothing.mail, ...mail } });

test('a website of which nothing is known has five open steps', () => {
  expect(setupSteps(nothing).map(({ step, state }) => [step, state])).toEqual(
    ['link', 'callback', 'sign_in', 'proof', 'mail'].map((step) => [step, 'open']),
  );
});

test('the last check and a later verified token decide about link and callback', () => {
  expect(stateOf('callback', { check: checked(['callback', true], ['callback_refusal', true]) })).toBe('done');
  expect(stateOf('callback', { check: checked(['callback', true], ['callback_refusal', null]) })).toBe('done');
  expect(stateOf('callback', { check: checked(['callback', true], ['callback_refusal', false]) })).toBe('failed');
  expect(stateOf('callback', { check: checked(['callback', null]) })).toBe('open');
  expect(stateOf('callback', { check: checked(['callback', null]), verifiedAt: early })).toBe('done');
  expect(stateOf('callback', { check: checked(['callback', false]), verifiedAt: early })).toBe('failed');
  expect(stateOf('callback', { check: checked(['callback', false]), verifiedAt: late })).toBe('done');
  expect(stateOf('callback', { verifiedBefore: true })).toBe('done');
  expect(stateOf('link', { check: checked(['login', true], ['login_cookie', false]) })).toBe('failed');
  expect(stateOf('link', { check: checked(['login', true], ['login_cookie', true]) })).toBe('done');
  expect(stateOf('link', { check: checked(['login', null]) })).toBe('open');
  expect(stateOf('link', { check: checked(['login', false]), verifiedAt: late })).toBe('done');
});

test('a rejected token breaks the sign-in until the next one succeeds', () => {
  const refusal = { at: middle, reason: 'used' };
  expect(stateOf('sign_in', { refusal })).toBe('failed');
  expect(stateOf('sign_in', { refusal, verifiedAt: early })).toBe('failed');
  expect(stateOf('sign_in', { refusal, verifiedAt: late })).toBe('done');
  expect(stateOf('sign_in', { refusal, localAt: late })).toBe('done');
  expect(stateOf('sign_in', { openedAt: late, requestedAt: early })).toBe('open');
});

test('a domain that is not proven any more is a failure', () => {
  expect(stateOf('proof', { wasProven: true })).toBe('failed');
  expect(stateOf('proof', { isProven: true, wasProven: true })).toBe('done');
});

test('emails work when one was accepted, unless the service cannot send them now', () => {
  expect(withMail({ isLocal: true })).toBe('done');
  expect(withMail({ acceptedAt: late })).toBe('done');
  expect(withMail({ acceptedBefore: true, isFailing: true })).toBe('failed');
  const problem = (kind: string) => ({ at: middle, kind, reason: null });
  expect(withMail({ problem: problem('mail_refused') })).toBe('failed');
  expect(withMail({ problem: problem('mail_refused'), acceptedAt: early })).toBe('done');
  expect(withMail({ problem: problem('mail_delayed'), acceptedAt: early })).toBe('failed');
  expect(withMail({ problem: problem('mail_delayed'), acceptedAt: late })).toBe('done');
});
