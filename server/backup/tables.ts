/** A table whose rows a backup holds. */
export type KeptTable = {
  name: string;
  /** Which of its rows; none: all. */
  where?: string;
  /** A migration fills it; what that put there makes room. */
  seeded?: true;
};

/** What a backup holds, parents before children, so that each row finds what it refers to. */
export const KEPT: readonly KeptTable[] = [
  { name: 'users' },
  // An upload that is still expected is an address that whoever has it may send a file to.
  { name: 'uploads', where: 'stored_at is not null' },
  { name: 'websites' },
  { name: 'domain_claims' },
  { name: 'applications' },
  { name: 'api_keys' },
  { name: 'api_key_days' },
  { name: 'waitlist' },
  { name: 'audit_log' },
  { name: 'daily_logins' },
  { name: 'daily_sites' },
  { name: 'daily_applications' },
  { name: 'daily_site_times' },
  { name: 'roll_up', seeded: true },
  { name: 'probes' },
];

/**
 * What no backup holds and what is empty after a restore: everything that lets somebody in, mails that are owed and the counters
 * of the limits. So nothing of it from before a restore can work, and a backup opens nothing.
 */
export const LEFT_OUT: readonly string[] = [
  'sign_in_attempts',
  'tokens',
  'sessions',
  'remembered_keys',
  'admin_sessions',
  'outbox',
  'website_recipients',
  'sign_in_limits',
  'rate_limits',
  // Another installation has another SECRET_KEY.
  'installation',
];
