import { ATTEMPT_SECONDS } from './limits.ts';

/**
 * How far a sign-in at a website came, in the order in which it can be reached; a later state replaces an earlier one. `waits`: the
 * sign-in has ended when it is still in this state after ATTEMPT_SECONDS.
 */
export const SIGN_IN_STATES = {
  waiting: { label: 'Waiting for the email', level: 'info', waits: true },
  sent: { label: 'Email sent', level: 'info', waits: true },
  ended: { label: 'Ended without a sign-in', level: 'problem', waits: false },
  opened: { label: 'Link opened, passkey needed', level: 'info', waits: false },
  unverified: { label: 'Signed in, token not verified', level: 'info', waits: false },
  signed_in: { label: 'Signed in', level: 'success', waits: false },
} as const satisfies Record<string, { label: string; level: 'info' | 'success' | 'problem'; waits: boolean }>;

export type SignInState = keyof typeof SIGN_IN_STATES;

export const signInStates = Object.keys(SIGN_IN_STATES) as [SignInState, ...SignInState[]];

/** The states to which the steps of a sign-in lead, by the kind, or the kind and reason, of their events. */
export const STATE_OF_KIND: Readonly<Record<string, SignInState>> = {
  requested: 'waiting',
  mail_accepted: 'sent',
  request_refused: 'ended',
  mail_refused: 'ended',
  mail_expired: 'ended',
  'link_refused expired': 'ended',
  'link_refused gone': 'ended',
  address_proven: 'opened',
  verified: 'signed_in',
  exchanged: 'signed_in',
};

/** Returns the state of a sign-in from its steps, oldest first; null: the event is not of a sign-in. @param now Unix milliseconds */
export function stateOf(steps: readonly { at: string; state: SignInState | null }[], now: number): SignInState | null {
  const last = Math.max(...steps.map(({ state }) => (state ? signInStates.indexOf(state) : -1)));
  if (last < 0) return null;
  const state = signInStates[last];
  return SIGN_IN_STATES[state].waits && Date.parse(steps[0].at) + ATTEMPT_SECONDS * 1000 < now ? 'ended' : state;
}
