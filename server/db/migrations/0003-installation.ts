/** What belongs to this installation, not to its data: no backup holds it. */
export const up = `
create table installation (
  only_row boolean primary key default true check (only_row),
  -- Derived from SECRET_KEY, which it does not reveal: instances with another key refuse to start.
  secret_key_fingerprint bytea not null,
  created_at timestamptz not null default now()
);
`;
