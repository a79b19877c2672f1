import type { Step } from '../migration-steps.ts';

/** The links in the emails about a registration and an invitation are attempts of their own kinds: they live for days. */
export const steps: readonly Step[] = [
  {
    title: 'allow attempts of registrations and invitations',
    sql: `
alter table sign_in_attempts drop constraint sign_in_attempts_kind_check,
  add constraint sign_in_attempts_kind_check check (kind in ('site', 'portal', 'app', 'oidc', 'registration', 'invitation')) not valid`,
  },
];
