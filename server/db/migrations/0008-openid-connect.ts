import type { Step } from '../migration-steps.ts';

const records = `
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

-- Authorization requests and token requests that were refused, for the owner of the client.
create table application_refusals (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  client_id text not null,
  -- An error code of RFC 6749 §5.2, RFC 9126 or OpenID Connect, and its description.
  error text not null,
  description text not null
);
create index application_refusals_client on application_refusals (client_id, id);
`;

/** What a client of OpenID Connect has besides a name and redirect URIs. The defaults fit the applications that exist. */
const clientColumns = `
alter table applications
  -- How it authenticates at the token endpoint: none (a public client), secret or private_key_jwt.
  add column authentication text not null default 'none',
  add column secret_hash bytea,
  -- Accepted for a time after a rotation.
  add column previous_secret_hash bytea,
  add column previous_secret_until timestamptz,
  -- JSON Web Key Set (RFC 7517) of private_key_jwt, or its address.
  add column jwks jsonb,
  add column jwks_uri text,
  add column logout_uris text[] not null default '{}',
  add column backchannel_logout_uri text,
  add column scopes text[] not null default '{openid,email,profile,offline_access}';
`;

/** A sign-in to a client of OpenID Connect is an attempt of its own kind. */
const attemptKinds = `
alter table sign_in_attempts drop constraint sign_in_attempts_kind_check,
  add constraint sign_in_attempts_kind_check check (kind in ('site', 'portal', 'app', 'oidc')) not valid`;

export const steps: readonly Step[] = [
  { title: 'create the tables of OpenID Connect', sql: records },
  { title: 'add the columns of OpenID Connect clients', sql: clientColumns },
  { title: 'allow attempts of OpenID Connect', sql: attemptKinds },
  // Null: every scope, as keys had before scopes existed.
  { title: 'add the scopes of API keys', sql: 'alter table api_keys add column scopes text[];' },
];
