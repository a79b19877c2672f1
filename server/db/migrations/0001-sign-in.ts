/** Accounts, websites and the sign-in core. Of secrets only the SHA-256 is stored; addresses are in the normal form of contract/rules.ts. */
export const up = `
create table users (
  id uuid primary key,
  email text not null unique,
  name text,
  created_at timestamptz not null default now()
);

create table websites (
  id uuid primary key,
  domain text not null unique,
  -- Null for the site 'localhost' of local mode, which nobody owns.
  email text,
  claimed_at timestamptz,
  proven_at timestamptz,
  created_at timestamptz not null default now()
);
create index websites_email on websites (email);
create index websites_unclaimed on websites (created_at) where claimed_at is null;

create table website_recipients (
  website_id uuid not null references websites on delete cascade,
  day date not null,
  mailbox text not null,
  primary key (website_id, day, mailbox)
);

-- id is a UUID of version 7: rows of one time lie together, so the age of the table costs nothing.
create table sign_in_attempts (
  id uuid primary key,
  kind text not null check (kind in ('site', 'portal', 'app')),
  email text not null,
  language text not null,
  browser bytea not null,
  -- kind site: the registered domain, the host that the token will be for and where the visitor goes; portal: forward_url alone.
  domain text,
  host text,
  forward_url text,
  -- kind app: OAuth 2.0 with PKCE.
  client_id text,
  redirect_uri text,
  challenge text,
  state text,
  code_tries smallint not null default 0,
  -- Wrong verifiers (kind app) or wrong addresses (a link opened in another browser).
  secret_tries smallint not null default 0,
  mail_failed boolean not null default false,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  -- What an exchange issued, so that a replay can revoke it.
  session bytea,
  key_selector bytea
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index sign_in_attempts_browser on sign_in_attempts (browser);

create table tokens (
  hash bytea primary key,
  -- The registered domain, and the host the token is for. Null: the portal.
  domain text,
  host text,
  email text not null,
  -- The browser that began the attempt.
  browser bytea,
  expires_at timestamptz not null,
  used_at timestamptz,
  idempotency_key bytea
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
create index tokens_expiry on tokens (expires_at);

create table sessions (
  hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  device bytea,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id);

-- One row is one family: rotation keeps the selector and replaces the verifier.
create table remembered_keys (
  selector bytea primary key,
  device bytea not null,
  email text not null,
  verifier bytea not null,
  previous_verifier bytea,
  rotated_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  unique (device, email)
) with (fillfactor = 80);
create index remembered_keys_email on remembered_keys (email);

-- Unlogged: a crash of the database forgives, and no request waits for the disk.
create unlogged table sign_in_limits (
  key text primary key,
  hits integer not null,
  resets_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
create index sign_in_limits_reset on sign_in_limits (resets_at);

-- The table that rate-limiter-flexible works on; expire in Unix milliseconds.
create unlogged table rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- Mails that are owed. For a sign-in mail the id is the attempt's. A row leaves when its mail is handed over, refused for good or too late.
create table outbox (
  id uuid primary key,
  kind text not null,
  recipient text not null,
  language text not null,
  data jsonb not null default '{}',
  tries smallint not null default 0,
  created_at timestamptz not null default now(),
  due_at timestamptz not null,
  expires_at timestamptz not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
create index outbox_due on outbox (due_at);

create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  action text not null,
  email text,
  domain text
);
create index audit_log_account on audit_log (email, id) where domain is null;

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
`;
