import type { Step } from '../migration-steps.ts';

/** The tables and columns of the portal, its dashboard, the status page and the admin pages. */
export const steps: readonly Step[] = [
  {
    title: 'add columns to users',
    sql: `
alter table users
  add column organisation text not null default '',
  -- How the mails of the account's sites look; empty: as the service's own.
  add column brand_name text not null default '',
  add column brand_logo_url text not null default '';`,
  },
  {
    title: 'create uploads',
    sql: `
-- The bytes lie on disk or in a bucket, under the id. Null: asked for, not sent yet.
create table uploads (
  id uuid primary key,
  -- Null once its user is gone: the row stays until the bytes are removed.
  user_id uuid references users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  stored_at timestamptz
);`,
  },
  {
    title: 'add columns to websites',
    sql: `
alter table websites
  add column icon uuid references uploads on delete set null,
  -- When a site moved to the domain that it has; null: it began with it.
  add column moved_at timestamptz;`,
  },
  { index: 'websites_icon', table: 'websites', definition: '(icon) where icon is not null' },
  {
    title: 'create applications and API keys',
    sql: `
-- OAuth clients: public ones, bound by PKCE.
create table applications (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null,
  client_id text not null unique,
  redirect_uris text[] not null,
  is_active boolean not null default true,
  -- What began before ended when the application was switched off.
  active_since timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create index applications_user on applications (user_id);

create table api_keys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null,
  environment text not null check (environment in ('live', 'test')),
  -- The beginning of the key, for people; the key itself is held as SHA-256 alone.
  key_id text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  -- Set when the key was rotated.
  expires_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_user on api_keys (user_id);
create table api_key_days (
  api_key uuid not null references api_keys on delete cascade,
  day date not null,
  calls bigint not null default 0,
  refused bigint not null default 0,
  primary key (api_key, day)
);`,
  },
  {
    title: 'add columns to sessions',
    sql: `
-- label: the browser or program, such as 'Firefox on Linux'. client_id: set for an application's token, which identifies and opens nothing.
alter table sessions add column label text, add column client_id text;`,
  },
  { title: 'add a column to remembered_keys', sql: 'alter table remembered_keys add column label text' },
  // Signing out everywhere ends the portal's tokens too.
  { index: 'tokens_portal', table: 'tokens', definition: '(email) where domain is null' },
  {
    title: 'create the tables of the admin pages and the status page',
    sql: `
create table waitlist (
  service text not null check (service in ('analytics', 'bugs')),
  email text not null,
  created_at timestamptz not null default now(),
  primary key (service, email)
);

create table admin_sessions (
  hash bytea primary key,
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);

-- One row a minute; failed names the components that did not answer in time.
create table probes (
  minute timestamptz primary key,
  database_ms real,
  response_ms real,
  failed text[] not null default '{}'
);`,
  },
  {
    title: 'add columns to audit_log',
    sql: `
-- seconds: on signed_in, from the request to the opening.
alter table audit_log add column client_id text, add column seconds smallint;`,
  },
  // The actions of accounts. Rows of sign-ins are not in these indexes, so that a sign-in does not write to them.
  {
    index: 'audit_log_account',
    table: 'audit_log',
    definition: `(email, id)
  where client_id is null and action not in ('sign_in_requested', 'signed_in', 'signed_in_again', 'token_verified')`,
  },
  { index: 'audit_log_application', table: 'audit_log', definition: '(client_id, id) where client_id is not null' },
  {
    title: 'create the sums of the audit log',
    sql: `
-- Sums of the audit log, kept by the job roll-up; day is a UTC day. opened: by link or code; again: remembered accounts.
-- A site's sums are its row's, not its domain's: they go with it, and who gets the domain next begins at zero.
create table daily_logins (
  day date primary key,
  logins bigint not null
);
create table daily_sites (
  website uuid not null references websites on delete cascade,
  day date not null,
  sent bigint not null default 0,
  opened bigint not null default 0,
  again bigint not null default 0,
  completed bigint not null default 0,
  primary key (website, day)
);
create table daily_applications (
  client_id text not null,
  day date not null,
  logins bigint not null default 0,
  primary key (client_id, day)
);
-- How many were opened so many seconds after the request, element by element. In one row a day: a site's median is asked of few pages.
create table daily_site_times (
  website uuid not null references websites on delete cascade,
  day date not null,
  seconds smallint[] not null,
  opened integer[] not null,
  primary key (website, day)
);
-- How far the audit log is summed up.
create table roll_up (
  only_row boolean primary key default true check (only_row),
  last_audit_id bigint not null default 0
);
insert into roll_up default values;`,
  },
];
