import type { Step } from '../migration-steps.ts';

/** How a visitor signed in, and what a website asks of a sign-in. */
export const steps: readonly Step[] = [
  {
    // The method has one byte, and a time is stored for remembered accounts alone. A previous release, which stores neither, issues
    // tokens with the method that says least.
    title: 'add the method to the tokens',
    sql: `alter table tokens add column method "char" not null default 'r', add column proven_at timestamptz`,
  },
  {
    // Parameters of the sign-in page, such as max_age=3600.
    title: 'add the conditions to the attempts',
    sql: 'alter table sign_in_attempts add column conditions text',
  },
  {
    title: 'add the sign-ins without an email by method to the totals',
    sql: 'alter table daily_sites add column by_passkey bigint not null default 0, add column by_verified_email bigint not null default 0',
  },
];
