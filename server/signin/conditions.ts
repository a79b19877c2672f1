import { ATTEMPT_SECONDS, INVITATION_DAYS, REGISTRATION_DAYS } from '../../contract/limits.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';

/**
 * Returns the life of an attempt, an interval as SQL: ATTEMPT_SECONDS, and days for the link of a registration or an invitation.
 * @param row alias of a row with the attempt's kind
 */
export const lifeOf = (row: string) =>
  `case ${row}.kind when 'registration' then interval '${REGISTRATION_DAYS} days' when 'invitation' then interval '${INVITATION_DAYS} days'
    else interval '${ATTEMPT_SECONDS} seconds' end`;

/**
 * Returns a condition: whether what an attempt was sent for is still to do. A registration has to be confirmed by its linked address,
 * an invitation to be accepted; `host` contains the domain. True for attempts of other kinds.
 * @param attempt alias of the row
 */
export const stillAwaited = (attempt: string) => `(${attempt}.kind not in ('registration', 'invitation') or (
      select coalesce(w.moved_at, w.created_at) <= ${attempt}.expires_at - ${lifeOf(attempt)}
        and case ${attempt}.kind when 'registration' then w.email = ${attempt}.email and w.claimed_at is null
          else exists (select from website_members m where m.website_id = w.id and m.email = ${attempt}.email and m.joined_at is null) end
      from websites w where w.domain = ${attempt}.host) is true)`;

/**
 * Returns a condition: whether an attempt has ended because another one of the same browser, address and target was used while it
 * was open. It is evaluated when it matters instead of being written, so that no statement waits for the rows of two attempts.
 * @param attempt alias of the row
 * @param seconds life of an attempt, as SQL
 */
export const endedBySibling = (attempt: string, seconds: string) => `exists (
      select from sign_in_attempts sibling
      where sibling.browser = ${attempt}.browser and sibling.id <> ${attempt}.id and sibling.kind = ${attempt}.kind
        and sibling.email = ${attempt}.email and sibling.domain is not distinct from ${attempt}.domain
        and sibling.client_id is not distinct from ${attempt}.client_id
        and (${attempt}.kind <> 'oidc' or sibling.host = ${attempt}.host)
        and sibling.consumed_at > ${attempt}.expires_at - make_interval(secs => ${seconds}))`;

/**
 * Returns a condition: whether the client of an attempt is an application that exists and has been active since the attempt began.
 * @param attempt alias of the row
 */
export const applicationActive = (attempt: string) => `exists (select from applications p
      where p.client_id = ${attempt}.client_id and p.is_active
        and p.active_since <= ${attempt}.expires_at - interval '${ATTEMPT_SECONDS} seconds')`;

/**
 * Returns a condition: whether the client of an attempt is a built-in one, or an application that has been active since the
 * attempt began.
 * @param attempt alias of the row
 */
export const clientActive = (attempt: string) =>
  `(${attempt}.client_id in ('${WEB_CLIENT_ID}', '${CLI_CLIENT_ID}') or ${applicationActive(attempt)})`;

/**
 * Returns a condition: whether the registration of a website is the one for which something was issued, and was neither deleted
 * nor taken over nor moved to another domain since. Null, which is not true, when the domain is not registered. A scalar subquery
 * on the unique index, which the planner cannot turn into a join over all websites.
 * @param domain the website's domain, as SQL
 * @param issuedAt as SQL
 */
export const sameRegistration = (domain: string, issuedAt: string) =>
  `(select coalesce(w.moved_at, w.created_at) from websites w where w.domain = ${domain}) <= ${issuedAt}`;
