import type { Step } from '../migration-steps.ts';

/** The link in the email about a registration is an attempt of its own kind: it lives as long as the registration. */
export const steps: readonly Step[] = [
  {
    title: 'allow attempts of registrations',
    sql: `
alter table sign_in_attempts drop constraint sign_in_attempts_kind_check,
  add constraint sign_in_attempts_kind_check check (kind in ('site', 'portal', 'app', 'oidc', 'registration')) not valid`,
  },
];
