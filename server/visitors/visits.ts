/*
 * The visitors of websites are sums of the audit log up to a row number in visitor_roll_up, plus the later rows. They have a position
 * of their own, since after an upgrade the whole audit log is still to be added, in batches beside the totals of the statistics.
 */

/** The rows of the audit log that are sign-ins of visitors whose address was not erased. With OpenID Connect, the client is the origin of the website. */
export const IS_VISIT = `(action in ('signed_in', 'signed_in_again') and domain is not null or action in ('application_signed_in', 'signed_in_again') and client_id like 'http%')
  and email like '%@%'`;

/** Returns the SQL expression of the host of a client_id that is an origin. @param clientId as SQL */
export const clientHost = (clientId: string) => `split_part(substring(${clientId} from '^https?://([^/]+)$'), ':', 1)`;

/** What is known of a visitor, over rows of the audit log. */
export const COUNTS = `
  min(at) as first_at, max(at) as last_at, count(*) filter (where action = 'signed_in')::integer as by_email,
  count(*) filter (where action = 'signed_in_again')::integer as remembered,
  count(*) filter (where action = 'application_signed_in')::integer as openid`;

/** When a website got its domain. Those who manage it do not see what happened at the domain before. */
export const SINCE = 'coalesce(w.moved_at, w.created_at)';
