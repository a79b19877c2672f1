import { ATTEMPT_SECONDS, REGISTRATION_LINK_SECONDS } from '../../contract/limits.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';

/**
 * Returns the life of an attempt, an interval as SQL. Only the link of a registration is valid for longer than ATTEMPT_SECONDS.
 * @param row alias of a row with the attempt's kind
 */
export const lifeOf = (row: string) =>
  `make_interval(secs => case when ${row}.kind = 'registration' then ${REGISTRATION_LINK_SECONDS} else ${ATTEMPT_SECONDS} end)`;

/**
 * Returns a condition: whether the domain whose registration an attempt confirms is still registered to its address and not
 * confirmed. True for attempts of other kinds. `host` contains the domain.
 * @param attempt alias of the row
 */
export const registrationOpen = (attempt: string) => `(${attempt}.kind <> 'registration' or (
      select w.email = ${attempt}.email and w.claimed_at is null
        and coalesce(w.moved_at, w.created_at) <= ${attempt}.expires_at - ${lifeOf(attempt)}
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
