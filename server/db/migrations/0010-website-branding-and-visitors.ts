import type { Step } from '../migration-steps.ts';

/** What a website shows of itself, and who signed in to it. */
export const steps: readonly Step[] = [
  {
    title: 'add the branding of websites',
    sql: `
alter table websites
  -- Shown beside the host on the sign-in page, once the domain is proven. Empty: only the host.
  add column name text not null default '',
  -- #rrggbb, or empty.
  add column accent text not null default '',
  -- As the columns of users, which apply where these are empty.
  add column brand_name text not null default '',
  add column brand_logo_url text not null default '';`,
  },
  {
    title: 'create the visitors of websites',
    sql: `
-- Addresses that signed in to a website: sums of the audit log, kept by the job roll-up.
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

-- Addresses that a website erased: what happened before is shown without them. The hash is that of server/visitors/visits.ts.
create table website_erasures (
  website uuid not null references websites on delete cascade,
  hash bytea not null,
  at timestamptz not null,
  primary key (website, hash)
);

-- How far website_visitors includes the audit log, and the number of erasures (see server/visitors/visits.ts).
create table visitor_roll_up (
  only_row boolean primary key default true check (only_row),
  last_audit_id bigint not null default 0,
  erasures bigint not null default 0
);
insert into visitor_roll_up default values;`,
  },
];
