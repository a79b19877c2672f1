/** Indexes by which the timed jobs find what they remove. Each is on a column that changes rarely, so that no use of a row writes to it. */
export const up = `
create index if not exists sessions_expiry on sessions (expires_at);
create index if not exists admin_sessions_expiry on admin_sessions (expires_at);
create index if not exists remembered_keys_rotated on remembered_keys (rotated_at);
create index if not exists website_recipients_day on website_recipients (day);
create index if not exists daily_site_times_day on daily_site_times (day);
create index if not exists rate_limits_expiry on rate_limits (expire);
`;
