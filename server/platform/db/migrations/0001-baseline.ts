const IN_8_DAYS = "date_trunc('day', now() at time zone 'UTC') + interval '8 days'";
const IN_2_DAYS = "date_trunc('day', now() at time zone 'UTC') + interval '2 days'";
const NEXT_MONTH = "date_trunc('month', now() at time zone 'UTC' + interval '7 days') + interval '1 month'";
const asTime = (time: string) => `to_char(${time}, 'YYYY-MM-DD') || ' 00:00:00+00'`;
/** The first UUID of version 7 of a time (RFC 9562 §5.7). */
const asId = (time: string) =>
  `(lpad(to_hex((extract(epoch from (${time}) at time zone 'UTC') * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid::text`;

const SHORT_LIVED = 'fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05';

/**
 * Creates the first partition of a table, with all rows before a bound, and the default one. A job creates the others
 * (server/platform/db/partitions.ts). docs/decisions/0022-partitions.md has the reasons.
 * @param bound as SQL of type text
 * @param storage parameters of partitions
 */
const partitions = (table: string, bound: string, storage: string) => `
do $$ begin
  execute format('create table ${table}_first partition of ${table} for values from (minvalue) to (%L) with (${storage})', ${bound});
end $$;
create table ${table}_default partition of ${table} default with (${storage});`;

/** Accounts and websites. Of secrets only the SHA-256 is stored; addresses are in the normal form of contract/emails.ts. */
const accounts = `
create table users (
  id uuid primary key,
  email text not null unique,
  name text,
  created_at timestamptz not null default now(),
  organisation text not null default '',
  -- How the emails of the account's websites look; empty: as the service's own.
  brand_name text not null default '',
  brand_logo_url text not null default ''
);

create table account_generations (
  -- SHA-256 of the address.
  account bytea primary key,
  -- When it was last raised, in microseconds since 1970. An account without a row has the generation 0.
  generation bigint not null
);
create index account_generations_generation on account_generations (generation);

create table sessions (
  hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  device bytea,
  created_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- The browser or program, such as 'Firefox on Linux'.
  label text,
  -- Set for an application's token, which identifies a person and opens nothing.
  client_id text
);
create index sessions_user on sessions (user_id);
-- A sign-in and a logout end the sessions of a device.
create index sessions_device on sessions (device);
create index sessions_expiry on sessions (expires_at);

-- The bytes are on disk or in a bucket, under the id.
create table uploads (
  id uuid primary key,
  -- Null when its user is gone: the row stays until the bytes are removed.
  user_id uuid references users on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Null: requested, not sent yet.
  stored_at timestamptz
);

create table waitlist (
  service text not null check (service in ('analytics', 'bugs')),
  email text not null,
  created_at timestamptz not null default now(),
  primary key (service, email)
);

create table api_keys (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null,
  environment text not null check (environment in ('live', 'test')),
  -- The beginning of the key, for people.
  key_id text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  -- Set when the key was rotated.
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Null: every scope.
  scopes text[]
);
create index api_keys_user on api_keys (user_id);
create table api_key_days (
  api_key uuid not null references api_keys on delete cascade,
  day date not null,
  calls bigint not null default 0,
  refused bigint not null default 0,
  primary key (api_key, day)
);
`;

const websites = `
create table websites (
  id uuid primary key,
  domain text not null unique,
  -- Null for the website 'localhost' of local mode, which nobody owns.
  email text,
  claimed_at timestamptz,
  proven_at timestamptz,
  created_at timestamptz not null default now(),
  icon uuid references uploads on delete set null,
  -- When it was registered, or moved to the domain that it has. Its owner does not see what happened at the domain before.
  domain_since timestamptz not null default now(),
  -- Shown beside the host on the sign-in page, once the domain is proven. Empty: only the host.
  name text not null default '',
  -- #rrggbb, or empty.
  accent text not null default '',
  -- As the columns of users, which apply where these are empty.
  brand_name text not null default '',
  brand_logo_url text not null default '',
  -- True: not by the linked address itself, as far as the service knows.
  registered_by_others boolean not null default false
);
create index websites_email on websites (email);
create index websites_unclaimed on websites (created_at) where claimed_at is null;
create index websites_icon on websites (icon) where icon is not null;

create table website_recipients (
  website_id uuid not null references websites on delete cascade,
  day date not null,
  mailbox text not null,
  primary key (website_id, day, mailbox)
);
create index website_recipients_day on website_recipients (day);

-- The challenge that an address publishes to prove a domain; one row per address and domain.
create table domain_claims (
  domain text not null,
  email text not null,
  -- Published in the DNS or on the website, so it is no secret.
  challenge text not null,
  created_at timestamptz not null default now(),
  primary key (domain, email)
);
create index domain_claims_created on domain_claims (created_at);

-- People who manage a website beside its linked address. A change of the linked address deletes the website, and these rows with it.
create table website_members (
  website_id uuid not null references websites on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'member')),
  -- The owner who sent the newest invitation, and when.
  invited_by text not null,
  invited_at timestamptz not null default now(),
  -- When the address accepted the invitation. Null: it manages nothing.
  joined_at timestamptz,
  primary key (website_id, email)
);
create index website_members_email on website_members (email);
create index website_members_pending on website_members (invited_at) where joined_at is null;

-- The last check of the callback of each website.
create table website_checks (
  website_id uuid primary key references websites on delete cascade,
  at timestamptz not null default now(),
  -- The address that was checked.
  callback text not null,
  -- CallbackCheck of contract/setup.ts.
  results jsonb not null
);

-- Addresses that a website erased: what happened before is shown without them. The hash is that of server/websites/visits.ts.
create table website_erasures (
  website uuid not null references websites on delete cascade,
  hash bytea not null,
  at timestamptz not null,
  primary key (website, hash)
);
`;

const signIn = `
-- id is a UUID of version 7: rows of one time are stored together.
create table sign_in_attempts (
  id uuid not null,
  kind text not null check (kind in ('site', 'portal', 'app', 'oidc', 'registration', 'invitation')),
  email text not null,
  language text not null,
  browser bytea not null,
  -- The registered domain, and the host that the token will be for; of a registration or invitation, the domain that it is about.
  domain text,
  audience text,
  -- Destination of contract/signin.ts; null for a program or application with PKCE.
  destination jsonb,
  -- Kinds app and oidc; challenge and state: OAuth 2.0 with PKCE.
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
  key_selector bytea,
  -- The mailbox of an address that is another spelling of it, for the counter of wrong codes; null: the address itself.
  mailbox text
) partition by range (id);
${partitions('sign_in_attempts', asId(IN_8_DAYS), SHORT_LIVED)}
alter table sign_in_attempts add primary key (id);
create index sign_in_attempts_browser on sign_in_attempts (browser);
create index sign_in_attempts_lasting on sign_in_attempts (expires_at) where kind in ('registration', 'invitation');

create table tokens (
  hash bytea not null,
  -- The registered domain, and the host that the token is for.
  domain text,
  audience text,
  -- SHA-256 of the id of an authorization request. A token with neither an audience nor an interaction is for the portal.
  interaction bytea,
  email text not null,
  -- The browser that began the attempt.
  browser bytea,
  -- As in the activity log.
  sign_in uuid,
  expires_at timestamptz not null,
  used_at timestamptz,
  idempotency_key bytea,
  method "char" not null default 'r',
  -- With a passkey that is bound to one device.
  hardware boolean not null default false,
  -- Of a remembered account: when its address was proven.
  proven_at timestamptz
) partition by range (expires_at);
${partitions('tokens', asTime(IN_8_DAYS), SHORT_LIVED)}
-- The key of a partitioned table has to have the column of the ranges; the hash is random.
alter table tokens add primary key (hash, expires_at);
create index tokens_portal on tokens (email) where domain is null;
-- It finds the tokens of an hour without being an index that the planner could prefer to the key where the expiry is compared.
create index tokens_time on tokens using brin ((expires_at at time zone 'UTC'));
-- For the clean-up, which removes rows one by one here.
create index tokens_default_expiry on tokens_default (expires_at);

-- One row is one family: rotation keeps the selector and replaces the verifier. Every statement finds a row by its device or address. An
-- index of random selectors would cost each sign-in the image of one more page after a checkpoint.
create table remembered_keys (
  selector bytea not null,
  device bytea not null,
  email text not null,
  verifier bytea not null,
  previous_verifier bytea,
  rotated_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  label text,
  unique (device, email)
) with (fillfactor = 80);
create index remembered_keys_email on remembered_keys (email);
create index remembered_keys_rotated on remembered_keys (rotated_at);
-- Logical replication needs a key.
alter table remembered_keys replica identity using index remembered_keys_device_email_key;

create table passkeys (
  id uuid primary key,
  -- Base64url, as browsers send it.
  credential_id text not null unique,
  -- Visitors have no row in users.
  email text not null,
  -- Random, and the same for all passkeys of an address: the user.id of WebAuthn, which must not be derived from the address.
  user_handle bytea not null,
  -- A COSE key (RFC 9052).
  public_key bytea not null,
  counter bigint not null,
  device_type text not null check (device_type in ('singleDevice', 'multiDevice')),
  backed_up boolean not null,
  transports text[] not null default '{}',
  aaguid uuid not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_email on passkeys (email);

-- Hashes of used challenges: a challenge is not stored when it is issued, and valid once.
create table passkey_challenges (
  hash bytea primary key,
  used_at timestamptz not null default now()
);
create index passkey_challenges_used on passkey_challenges (used_at);

-- Unlogged: a crash of the database forgives, and no request waits for the disk.
create unlogged table rate_limits (
  key text primary key,
  hits integer not null,
  resets_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);
create index rate_limits_reset on rate_limits (resets_at);

-- Emails that are still to be sent. The id of a sign-in email is that of its attempt. A row is deleted when its email is handed over,
-- permanently refused or expired.
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
`;

const openIdConnect = `
-- OAuth clients. The defaults are those of a public client, bound by PKCE.
create table applications (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  name text not null,
  client_id text not null unique,
  redirect_uris text[] not null,
  is_active boolean not null default true,
  -- What began before ended when the application was switched off.
  active_since timestamptz not null default now(),
  created_at timestamptz not null default now(),
  -- How it authenticates at the token endpoint: none (a public client), secret or private_key_jwt.
  authentication text not null default 'none',
  secret_hash bytea,
  -- Accepted for a time after a rotation.
  previous_secret_hash bytea,
  previous_secret_until timestamptz,
  -- JSON Web Key Set (RFC 7517) of private_key_jwt, or its address.
  jwks jsonb,
  jwks_uri text,
  logout_uris text[] not null default '{}',
  backchannel_logout_uri text,
  -- False for a confidential client whose software cannot send PKCE.
  pkce_required boolean not null default true,
  scopes text[] not null default '{openid,email,profile,offline_access}',
  -- What the sub of its people is derived from, besides the address. Fixed: a sub may have been derived from it.
  sector text,
  sector_fixed boolean not null default false
);
create index applications_user on applications (user_id);

-- Everything that oidc-provider stores. Ids that give access are stored as SHA-256, and are left out of the payload.
create table oidc_records (
  -- The name of the model: AuthorizationCode, RefreshToken, Grant, Session, Interaction, Client, …
  kind text not null,
  id bytea not null,
  payload jsonb not null,
  -- Of a session, grant, code or token: who signed in, in normal form.
  email text,
  client_id text,
  grant_id bytea,
  uid bytea,
  user_code bytea,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  consumed_at timestamptz,
  primary key (kind, id)
);
create index oidc_records_grant on oidc_records (grant_id) where grant_id is not null;
create index oidc_records_uid on oidc_records (uid) where uid is not null;
create index oidc_records_user_code on oidc_records (user_code) where user_code is not null;
create index oidc_records_email on oidc_records (email, kind) where kind in ('Grant', 'Session');
create index oidc_records_client on oidc_records (client_id) where kind = 'Grant';
create index oidc_records_expiry on oidc_records (expires_at);

-- Signing keys, and the salt of pairwise subjects, encrypted with a key derived from SECRET_KEY.
create table oidc_keys (
  -- The key ID (RFC 7517 §4.5), or 'salt'.
  kid text primary key,
  -- ES256 or RS256; null for the salt.
  algorithm text,
  encrypted bytea not null,
  created_at timestamptz not null default now(),
  -- Published before it signs, and after it stopped signing.
  signs_from timestamptz not null default now(),
  signs_until timestamptz,
  published_until timestamptz
);
`;

/** The columns of a row of the activity log. Its website and application are found when it is written. */
const activityColumns = `
  at timestamptz not null default now(),
  action text not null,
  -- Whose row it is: who did something, or to whom it was done.
  email text,
  -- The names that the website and the application had.
  domain text,
  client_id text,
  website_id uuid,
  application_id uuid,
  -- Who did it, where that is not the person of the row.
  actor text,
  -- The name of what it was done to, such as an API key.
  object text,
  -- Why something was refused, or how it ended.
  result text,
  -- How a person signed in (contract/methods.ts); null: with an authorization code, which does not contain it.
  method "char",
  -- The sign-in that it is a step of: the id of the attempt, or without an email, one made for it. It begins with the time, as UUID version 7 does.
  sign_in uuid,
  -- Of an opening by link or code: from the request to the opening.
  seconds smallint,
  -- The browser or program, such as 'Firefox on Linux', and the block of its network address.
  device text,
  network text,
  -- Of a sum of further rows of the same minute: their number.
  count integer`;

const activityIndexes = (table: string) => `
create index ${table}_id on ${table} (id);
create index ${table}_website on ${table} (website_id, id) where website_id is not null;
create index ${table}_application on ${table} (application_id, id) where application_id is not null;`;

const activity = `
create table audit_log (
  -- The sequence alone numbers the rows, across all partitions and those of sign_in_steps.
  id bigint generated always as identity,${activityColumns}
) partition by range (at);
${partitions('audit_log', asTime(NEXT_MONTH), 'fillfactor = 100')}
${activityIndexes('audit_log')}
-- The actions of accounts. Rows of sign-ins by email are not in this index, so that such a sign-in does not write to it.
create index audit_log_account on audit_log (email, id)
  where client_id is null and action not in ('sign_in_requested', 'signed_in', 'token_verified');

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit_log is append-only' using errcode = 'insufficient_privilege';
end $$;
create trigger audit_log_append_only before update or delete or truncate on audit_log for each statement execute function refuse_change();
create trigger audit_log_append_only before update or delete or truncate on audit_log_first for each statement execute function refuse_change();
create trigger audit_log_append_only before update or delete or truncate on audit_log_default for each statement execute function refuse_change();

-- How far the audit log was printed to stdout.
create table audit_export (
  only_row boolean primary key default true check (only_row),
  last_audit_id bigint not null,
  printed_at timestamptz,
  -- Until then, one instance prints the next rows.
  locked_until timestamptz
);

-- Refusals and the fate of emails, kept for days. Their number is limited when they are written (docs/decisions/0015).
create table sign_in_steps (
  id bigint not null default nextval('audit_log_id_seq'),${activityColumns}
) partition by range (at);
${partitions('sign_in_steps', asTime(IN_2_DAYS), 'fillfactor = 100')}
${activityIndexes('sign_in_steps')}

-- The rows of both tables, in the order of their numbers.
create view activity_log as select * from audit_log union all select * from sign_in_steps;

-- Totals of the audit log, kept by the job roll-up; day is a UTC day. Those of a website belong to its row, not to its domain: they go with
-- it, and who gets the domain next begins at zero.
create table daily_logins (
  day date primary key,
  logins bigint not null
);
create table daily_sites (
  website uuid not null references websites on delete cascade,
  day date not null,
  sent bigint not null default 0,
  -- By link or code.
  opened bigint not null default 0,
  -- Without an email. Some of these methods have a count of their own too (contract/methods.ts).
  again bigint not null default 0,
  completed bigint not null default 0,
  -- Sign-ins by OpenID Connect, whose rows in the audit log have the website's origin as client_id.
  openid_sent bigint not null default 0,
  openid_opened bigint not null default 0,
  by_passkey bigint not null default 0,
  by_verified_email bigint not null default 0,
  -- Of completed, and of again: without an email, and with OpenID Connect.
  completed_again bigint not null default 0,
  openid_again bigint not null default 0,
  primary key (website, day)
);
create table daily_applications (
  application uuid not null references applications on delete cascade,
  day date not null,
  logins bigint not null default 0,
  primary key (application, day)
);
-- How many were opened by a method so many seconds after the request, element by element. One row a day, so that a median reads few pages.
create table daily_site_times (
  website uuid not null references websites on delete cascade,
  day date not null,
  seconds smallint[] not null,
  opened integer[] not null,
  methods "char"[] not null,
  primary key (website, day)
);
create index daily_site_times_day on daily_site_times (day);
-- How far the totals include the audit log.
create table roll_up (
  only_row boolean primary key default true check (only_row),
  last_audit_id bigint not null default 0
);
insert into roll_up default values;

-- Addresses that signed in to a website: totals of the audit log, kept by the job roll-up.
create table website_visitors (
  website uuid not null references websites on delete cascade,
  email text not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- Sign-ins by a link or code, by a remembered account, and by OpenID Connect.
  by_email integer not null default 0,
  remembered integer not null default 0,
  openid integer not null default 0,
  primary key (website, email)
);
create index website_visitors_seen on website_visitors (last_at);
-- How far website_visitors includes the audit log, and the number of erasures (server/websites/visits.ts).
create table visitor_roll_up (
  only_row boolean primary key default true check (only_row),
  last_audit_id bigint not null default 0,
  erasures bigint not null default 0
);
insert into visitor_roll_up default values;
`;

const operations = `
-- What belongs to this installation rather than to its data: no backup contains it.
create table installation (
  only_row boolean primary key default true check (only_row),
  -- Derived from SECRET_KEY, which it does not reveal: instances with another key refuse to start.
  secret_key_fingerprint bytea not null,
  created_at timestamptz not null default now()
);

create table admin_sessions (
  hash bytea primary key,
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index admin_sessions_expiry on admin_sessions (expires_at);

-- One row a minute; failed names the components that did not respond in time.
create table probes (
  minute timestamptz primary key,
  database_ms real,
  response_ms real,
  failed text[] not null default '{}'
);
`;

/** The schema of the first release. */
export const sql = [accounts, websites, signIn, openIdConnect, activity, operations].join('');
