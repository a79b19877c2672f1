import type { Step } from './steps.ts';

/** Indexes by which the timed jobs find what they remove. Each is on a column that changes rarely, so that no use of a row writes to it. */
export const steps: readonly Step[] = [
  { index: 'sessions_expiry', table: 'sessions', definition: '(expires_at)' },
  { index: 'admin_sessions_expiry', table: 'admin_sessions', definition: '(expires_at)' },
  { index: 'remembered_keys_rotated', table: 'remembered_keys', definition: '(rotated_at)' },
  { index: 'website_recipients_day', table: 'website_recipients', definition: '(day)' },
  { index: 'daily_site_times_day', table: 'daily_site_times', definition: '(day)' },
  { index: 'rate_limits_expiry', table: 'rate_limits', definition: '(expire)' },
  { index: 'domain_claims_created', table: 'domain_claims', definition: '(created_at)' },
];
