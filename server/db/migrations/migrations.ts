import type { Step } from '../migration-steps.ts';
import { up as signIn } from './0001-sign-in.ts';
import { steps as portal } from './0002-portal.ts';
import { steps as openIdConnect } from './0008-openid-connect.ts';
import { steps as websiteMembers } from './0009-website-members.ts';
import { steps as brandingAndVisitors } from './0010-website-branding-and-visitors.ts';
import { steps as registrationLinks } from './0011-registration-links.ts';
import { steps as partitions } from './0014-partitions.ts';
import { steps as passkeys } from './0016-passkeys.ts';
import { steps as signInMethods } from './0019-sign-in-methods.ts';
import { steps as accountGenerations } from './0021-account-generations.ts';
import { steps as subjectSectors } from './0023-subject-sectors.ts';

/** `sql`: the whole migration is one step. */
export type Migration = { name: string } & ({ sql: string } | { steps: readonly Step[] });

/** What belongs to this installation rather than to its data: no backup contains it. */
const installation = `
create table installation (
  only_row boolean primary key default true check (only_row),
  -- Derived from SECRET_KEY, which it does not reveal: instances with another key refuse to start.
  secret_key_fingerprint bytea not null,
  created_at timestamptz not null default now()
);
`;

/** The challenge that an address publishes to prove a domain; one row per address and domain. */
const domainClaims = `
create table domain_claims (
  domain text not null,
  email text not null,
  -- Published in the DNS or on the site, so it is no secret.
  challenge text not null,
  created_at timestamptz not null default now(),
  primary key (domain, email)
);
`;

/** Indexes for the clean-up jobs. Each is on a column that rarely changes, so that using a row does not write to the index. */
const cleanUpIndexes: readonly Step[] = [
  { index: 'sessions_expiry', table: 'sessions', definition: '(expires_at)' },
  { index: 'admin_sessions_expiry', table: 'admin_sessions', definition: '(expires_at)' },
  { index: 'remembered_keys_rotated', table: 'remembered_keys', definition: '(rotated_at)' },
  { index: 'website_recipients_day', table: 'website_recipients', definition: '(day)' },
  { index: 'daily_site_times_day', table: 'daily_site_times', definition: '(day)' },
  { index: 'rate_limits_expiry', table: 'rate_limits', definition: '(expire)' },
  { index: 'domain_claims_created', table: 'domain_claims', definition: '(created_at)' },
];

/** The steps of sign-ins that the audit log does not contain, for the owners of websites; see docs/decisions/0015. */
const websiteEvents = `
create table website_events (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  domain text not null,
  kind text not null,
  reason text,
  email text,
  -- More than 1: a sum of further events of the same minute.
  count integer not null default 1
);
create index website_events_at on website_events (at);
`;

/** Sign-ins to a website by OpenID Connect, whose rows in the audit log have its origin as client_id. */
const websiteOpenIdTotals = `
alter table daily_sites add column openid_sent bigint not null default 0, add column openid_opened bigint not null default 0;
`;

/** Indexes to which every sign-in wrote. Their rows are found in the order of their ids, which is that of their times. */
const fewerIndexes: readonly Step[] = [
  { title: 'drop the index of due emails', sql: 'drop index outbox_due' },
  { title: 'drop the index of the times of events', sql: 'drop index website_events_at' },
];

/**
 * Every statement finds a remembered account by its device or address. An index of random selectors would cost each sign-in the image of
 * one more page after a checkpoint.
 */
const rememberedKeysBySelector: readonly Step[] = [
  {
    title: 'drop the index of selectors',
    // Logical replication needs a key.
    sql: `alter table remembered_keys replica identity using index remembered_keys_device_email_key,
      drop constraint remembered_keys_pkey`,
  },
];

/** How far the audit log was printed to stdout. */
const auditExport = `
create table audit_export (
  only_row boolean primary key default true check (only_row),
  last_audit_id bigint not null,
  printed_at timestamptz,
  -- Until then, one instance prints the next rows.
  locked_until timestamptz
);
`;

/** The mailbox of an attempt whose address is another spelling of it, for the counter of wrong codes; null: the address itself. */
const mailboxOfAttempts: readonly Step[] = [
  { title: 'add the mailbox to the attempts', sql: 'alter table sign_in_attempts add column mailbox text' },
];

/**
 * All migrations in order, the short ones in full. The list is append-only: a released migration is never changed.
 * How to write one is in docs/architecture.md.
 */
export const migrations: readonly Migration[] = [
  { name: '0001-sign-in', sql: signIn },
  { name: '0002-portal', steps: portal },
  { name: '0003-installation', sql: installation },
  // A sign-in and a logout find the sessions of a device by this index, to end them.
  { name: '0004-device-sessions', steps: [{ index: 'sessions_device', table: 'sessions', definition: '(device)' }] },
  { name: '0005-domain-claims', sql: domainClaims },
  { name: '0006-clean-up-indexes', steps: cleanUpIndexes },
  { name: '0007-website-events', sql: websiteEvents },
  { name: '0008-openid-connect', steps: openIdConnect },
  { name: '0009-website-members', steps: websiteMembers },
  { name: '0010-website-branding-and-visitors', steps: brandingAndVisitors },
  { name: '0011-registration-links', steps: registrationLinks },
  { name: '0012-website-openid-totals', sql: websiteOpenIdTotals },
  { name: '0013-audit-exports', sql: auditExport },
  { name: '0014-partitions', steps: partitions },
  { name: '0015-fewer-indexes', steps: fewerIndexes },
  { name: '0016-passkeys', steps: passkeys },
  { name: '0019-sign-in-methods', steps: signInMethods },
  { name: '0020-remembered-keys', steps: rememberedKeysBySelector },
  { name: '0021-account-generations', steps: accountGenerations },
  { name: '0022-mailbox-of-attempts', steps: mailboxOfAttempts },
  { name: '0023-subject-sectors', steps: subjectSectors },
];
