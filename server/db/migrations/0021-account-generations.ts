import type { Step } from '../migration-steps.ts';

/** The generations of accounts, and which websites someone registered who was not signed in. */
export const steps: readonly Step[] = [
  {
    title: 'create the generations of accounts',
    sql: `
create table account_generations (
  -- SHA-256 of the address.
  account bytea primary key,
  -- When it was last raised, in microseconds since 1970. An account without a row has the generation 0.
  generation bigint not null
);
create index account_generations_generation on account_generations (generation);`,
  },
  {
    // True: not by the linked address itself, as far as the service knows.
    title: 'add who registered a website',
    sql: 'alter table websites add column registered_by_others boolean not null default false',
  },
];
