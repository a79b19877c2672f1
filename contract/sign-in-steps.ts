import type { ErrorCode } from './errors.ts';

/**
 * Statuses of an attempt for the browser that began it. `opened`: by its link in this browser; `opened_elsewhere`: in another one;
 * `code_spent`: its code was entered wrongly too often, its link still works.
 */
export const attemptStatuses = ['waiting', 'opened', 'opened_elsewhere', 'code_spent', 'mail_failed', 'expired'] as const;

export type AttemptStatus = (typeof attemptStatuses)[number];

/** An attempt of the browser that receives it. */
export type OwnAttempt = {
  email: string;
  status: AttemptStatus;
  /** Until the link and the code expire. */
  secondsLeft: number;
  /** How many emails this browser requested for the address and the target within the life of an attempt. */
  emailCount: number;
  /** Of an attempt with PKCE, whose verifier a script has stored: its state. The code of any other attempt needs no script. */
  state: string | null;
};

/** The forms of the pages. `address`: of step 1; `link`: of a link that was opened in another browser; `browser`: of a link that confirms its browser. */
export type FormName = 'address' | 'code' | 'resend' | 'account' | 'link' | 'browser' | 'consent';

/**
 * Why a form post was refused. `no_saved_login`: the remembered account has no key; `needs_script`: the code of an attempt with PKCE
 * was posted by a form.
 */
export type FormFailure = {
  form: FormName;
  code: ErrorCode | 'no_saved_login' | 'needs_script';
  /** The field of the call to which the error belongs. */
  field?: string;
  /** Seconds. */
  retryAfter?: number;
  /** Of the forms `link` and `browser`: the address that was typed. */
  typed?: string;
};

/** The two steps of a sign-in, as the service renders them. */
export type SignInSteps = {
  /** The path of the page, and of the form of step 1. The other forms are below it: `/code`, `/resend`, `/account`, `/forget`. */
  base: string;
  /** The query of the page and of its forms without `step`, with its `?`. */
  query: string;
  /** `signed_in`: offers the session of this browser instead of step 1. */
  step: 'address' | 'code' | 'signed_in';
  /** What the field of step 1 contains. */
  email: string;
  /** The newest attempt of this browser for the target; at step 2 never null. */
  attempt: OwnAttempt | null;
  /** Step 2 was requested, and there is no attempt of this browser for it. */
  attemptMissing: boolean;
  /** The address of this browser's session. */
  signedInAs: string | null;
};
