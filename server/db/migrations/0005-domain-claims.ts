/** The challenge that an address publishes to prove a domain; one row per address and domain. */
export const up = `
create table domain_claims (
  domain text not null,
  email text not null,
  -- Published in the DNS or on the site, so it is no secret.
  challenge text not null,
  created_at timestamptz not null default now(),
  primary key (domain, email)
);
`;
