import type { Step } from '../migration-steps.ts';

/** Passkeys (WebAuthn Level 3), and the challenges that were used. */
export const steps: readonly Step[] = [
  {
    title: 'create the passkeys',
    sql: `
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
create index passkey_challenges_used on passkey_challenges (used_at);`,
  },
];
