/** A table whose rows a backup contains. */
export type KeptTable = {
  name: string;
  /** Condition for the rows; without it, all rows. */
  where?: string;
  /** Whether a migration inserts rows, which a restore deletes first. */
  seeded?: true;
};

/** The tables of a backup; a table that is referenced comes first. */
export const KEPT: readonly KeptTable[] = [
  { name: 'users' },
  // An upload that has not arrived is a permission for the holder of its address.
  { name: 'uploads', where: 'stored_at is not null' },
  { name: 'websites' },
  { name: 'website_members' },
  { name: 'domain_claims' },
  { name: 'applications' },
  { name: 'api_keys' },
  { name: 'api_key_days' },
  // The salt of pairwise subjects, so that people keep their `sub`; encrypted with SECRET_KEY.
  { name: 'oidc_keys', where: 'algorithm is null' },
  { name: 'waitlist' },
  // Public keys: what signs in stays in the devices of the people.
  { name: 'passkeys' },
  { name: 'audit_log' },
  { name: 'daily_logins' },
  { name: 'daily_sites' },
  { name: 'daily_applications' },
  { name: 'daily_site_times' },
  { name: 'roll_up', seeded: true },
  // After a restore, the export repeats rows rather than leaving any out.
  { name: 'audit_exports' },
  { name: 'website_visitors' },
  { name: 'website_erasures' },
  { name: 'visitor_roll_up', seeded: true },
  { name: 'probes' },
];

/**
 * The tables that no backup contains and that are empty after a restore: everything that gives access, pending emails and the
 * counters of rate limits. So nothing from before a restore gives access afterwards, and neither does a stolen backup.
 */
export const LEFT_OUT: readonly string[] = [
  'sign_in_attempts',
  'tokens',
  'sessions',
  'remembered_keys',
  'admin_sessions',
  'passkey_challenges',
  'outbox',
  // Diagnostics of a few days.
  'website_events',
  'application_refusals',
  'oidc_records',
  'website_recipients',
  'sign_in_limits',
  'rate_limits',
  // Another installation has a different SECRET_KEY.
  'installation',
];
