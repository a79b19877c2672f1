import type { Step } from '../migration-steps.ts';

/**
 * Tables that become partitioned by ranges of time. The table that exists becomes the first partition, which has all rows before a bound:
 * the end of the next week, or of the month of that day. Until then only one partition has rows, so that a previous release can serve beside
 * this one; its clean-up finds rows by their place in a table. docs/decisions/0022-partitions.md has the reasons.
 */
type Table = {
  name: string;
  column: string;
  /** The bound, as SQL of type text. */
  bound: string;
  /** SQL in the transaction that replaces the table: before and after the partitioned table is created, and when all is attached. */
  detached?: string;
  created: string;
  attached?: string;
  /** Storage parameters of partitions. */
  storage: string;
};

const IN_8_DAYS = "date_trunc('day', now() at time zone 'UTC') + interval '8 days'";
const NEXT_MONTH = "date_trunc('month', now() at time zone 'UTC' + interval '7 days') + interval '1 month'";
const asTime = (time: string) => `to_char(${time}, 'YYYY-MM-DD') || ' 00:00:00+00'`;
/** The first UUID of version 7 of a time (RFC 9562 §5.7). */
const asId = (time: string) =>
  `(lpad(to_hex((extract(epoch from (${time}) at time zone 'UTC') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid::text`;

const SHORT_LIVED = 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05';

const attempts: Table = {
  name: 'sign_in_attempts',
  column: 'id',
  bound: asId(IN_8_DAYS),
  created: `
  alter table sign_in_attempts add primary key (id);
  create index sign_in_attempts_browser on sign_in_attempts (browser);
  create index sign_in_attempts_lasting on sign_in_attempts (expires_at) where kind in ('registration', 'invitation');`,
  storage: SHORT_LIVED,
};

// The key of a partitioned table has to have the column of the ranges; the hash is random. tokens_time finds the tokens of an hour without
// being an index that the planner could prefer to the key where the expiry is compared.
const tokens: Table = {
  name: 'tokens',
  column: 'expires_at',
  bound: asTime(IN_8_DAYS),
  detached: `
  alter table tokens_first drop constraint tokens_first_pkey, add constraint tokens_first_pkey primary key using index tokens_first_key;
  drop index tokens_first_expiry;`,
  created: `
  alter table tokens add primary key (hash, expires_at);
  create index tokens_portal on tokens (email) where domain is null;
  create index tokens_time on tokens using brin ((expires_at at time zone 'UTC'));`,
  // For the clean-up, which removes rows one by one here.
  attached: 'create index tokens_default_expiry on tokens_default (expires_at);',
  storage: SHORT_LIVED,
};

// The rows are numbered by the sequence alone, across all partitions.
const auditLog: Table = {
  name: 'audit_log',
  column: 'at',
  bound: asTime(NEXT_MONTH),
  detached: `
  next_id := (select last_value + is_called::integer from audit_log_id_seq);
  alter table audit_log_first alter column id drop identity, drop constraint audit_log_first_pkey;`,
  created: `
  alter table audit_log alter column id add generated always as identity;
  perform setval('audit_log_id_seq', next_id, false);
  create index audit_log_id on audit_log (id);
  create index audit_log_account on audit_log (email, id)
    where client_id is null and action not in ('sign_in_requested', 'signed_in', 'signed_in_again', 'token_verified');
  create index audit_log_application on audit_log (client_id, id) where client_id is not null;
  create trigger audit_log_append_only before update or delete or truncate on audit_log for each statement execute function refuse_change();`,
  attached: `
  create trigger audit_log_append_only before update or delete or truncate on audit_log_default for each statement execute function refuse_change();`,
  storage: 'fillfactor = 100',
};

/** Rejects rows beyond the bound, which then needs no second look at the rows when the table is attached. */
const addBound = ({ name, column, bound }: Table): Step => ({
  title: `limit ${name} to the rows of its first partition`,
  sql: `do $$ begin
  execute format('alter table ${name} add constraint ${name}_bound check (${column} < %L) not valid', ${bound});
end $$`,
});

/** Reads all rows, while others are written. */
const validate = (table: string, constraint: string): Step => ({
  title: `check the rows of ${table} (${constraint})`,
  sql: `alter table ${table} validate constraint ${constraint}`,
});

const replace = ({ name, column, detached = '', created, attached = '', storage }: Table): Step => ({
  title: `make ${name} a partitioned table`,
  sql: `do $$
declare
  bound text := (select substring(pg_get_constraintdef(oid) from '''([^'']+)''') from pg_constraint
    where conrelid = '${name}'::regclass and conname = '${name}_bound');
  next_id bigint;
  statement text;
begin
  alter table ${name} rename to ${name}_first;
  for statement in
    select format('alter index %I rename to %I', relname, '${name}_first' || substr(relname, length('${name}') + 1))
    from pg_index join pg_class on pg_class.oid = indexrelid where indrelid = '${name}_first'::regclass
  loop execute statement; end loop;
  ${detached}
  create table ${name} (like ${name}_first including defaults including constraints) partition by range (${column});
  alter table ${name} drop constraint ${name}_bound;
  ${created}
  execute format('alter table ${name} attach partition ${name}_first for values from (minvalue) to (%L)', bound);
  alter table ${name}_first drop constraint ${name}_bound, set (${storage});
  create table ${name}_default partition of ${name} default with (${storage});
  ${attached}
  for statement in
    select format('grant %s on ${name} to %s', privilege_type, case grantee when 0 then 'public' else grantee::regrole::text end)
    from pg_class cross join aclexplode(relacl) where pg_class.oid = '${name}_first'::regclass and grantee <> relowner
    union all
    select format('alter table %I owner to %s', created, relowner::regrole)
    from pg_class cross join unnest(array['${name}', '${name}_default']) created
    where pg_class.oid = '${name}_first'::regclass and relowner <> current_user::regrole
  loop execute statement; end loop;
end $$`,
});

export const steps: readonly Step[] = [
  {
    index: 'sign_in_attempts_lasting',
    table: 'sign_in_attempts',
    definition: "(expires_at) where kind in ('registration', 'invitation')",
  },
  validate('sign_in_attempts', 'sign_in_attempts_kind_check'),
  addBound(attempts),
  validate('sign_in_attempts', 'sign_in_attempts_bound'),
  replace(attempts),
  { index: 'tokens_key', table: 'tokens', definition: '(hash, expires_at)', unique: true },
  { index: 'tokens_time', table: 'tokens', definition: "using brin ((expires_at at time zone 'UTC'))" },
  addBound(tokens),
  validate('tokens', 'tokens_bound'),
  replace(tokens),
  { index: 'audit_log_id', table: 'audit_log', definition: '(id)' },
  addBound(auditLog),
  validate('audit_log', 'audit_log_bound'),
  replace(auditLog),
];
