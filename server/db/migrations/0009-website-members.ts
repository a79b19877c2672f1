import type { Step } from '../migration-steps.ts';

// People who manage a website beside its linked address. A change of the linked address deletes the website, and these rows with it.
const members = `
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
`;

/** A step, since the reference locks `websites`. */
export const steps: readonly Step[] = [{ title: 'create the table of the members of websites', sql: members }];
