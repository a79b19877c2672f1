import { ATTEMPT_SECONDS, INVITATION_DAYS, REGISTRATION_DAYS } from '../../contract/limits.ts';
import { CLI_CLIENT_ID, WEB_CLIENT_ID } from '../../contract/pkce.ts';

/*
 * SQL about a row of sign_in_attempts, for the statements of signing in.
 */

/** The life of an attempt by which a person signs in, an interval as SQL. */
export const LIFE = `interval '${ATTEMPT_SECONDS} seconds'`;

/**
 * Returns the life of an attempt of any kind, an interval as SQL: LIFE, and days for the link of a registration or an invitation.
 * @param row alias of a row with the attempt's kind
 */
export const lifeOf = (row: string) =>
  `case ${row}.kind when 'registration' then interval '${REGISTRATION_DAYS} days' when 'invitation' then interval '${INVITATION_DAYS} days'
    else ${LIFE} end`;

/**
 * Returns a condition: whether what an attempt was sent for is still to do. A registration has to be confirmed by its linked address,
 * an invitation to be accepted; `audience` contains the domain. True for attempts of other kinds.
 * @param attempt alias of the row
 */
export const stillAwaited = (attempt: string) => `(${attempt}.kind not in ('registration', 'invitation') or (
      select w.domain_since <= ${attempt}.expires_at - ${lifeOf(attempt)}
        and case ${attempt}.kind when 'registration' then w.email = ${attempt}.email and w.claimed_at is null
          else exists (select from website_members m where m.website_id = w.id and m.email = ${attempt}.email and m.joined_at is null) end
      from websites w where w.domain = ${attempt}.audience) is true)`;

/**
 * Returns a condition: whether an attempt has ended because another one of the same browser, address and target was used while it
 * was open. Two hosts of one website are two targets. It is evaluated when it matters instead of being written, so that no statement
 * waits for the rows of two attempts.
 * @param attempt alias of the row
 */
export const endedBySibling = (attempt: string) => `exists (
      select from sign_in_attempts sibling
      where sibling.browser = ${attempt}.browser and sibling.id <> ${attempt}.id and sibling.kind = ${attempt}.kind
        and sibling.email = ${attempt}.email and sibling.audience is not distinct from ${attempt}.audience
        and sibling.destination->'interaction' is not distinct from ${attempt}.destination->'interaction'
        and sibling.client_id is not distinct from ${attempt}.client_id
        and sibling.consumed_at > ${attempt}.expires_at - ${LIFE})`;

/**
 * Returns a condition: whether the client of an attempt is an application that exists and has been active since the attempt began.
 * @param attempt alias of the row
 */
export const applicationActive = (attempt: string) => `exists (select from applications p
      where p.client_id = ${attempt}.client_id and p.is_active
        and p.active_since <= ${attempt}.expires_at - ${LIFE})`;

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
  `(select w.domain_since from websites w where w.domain = ${domain}) <= ${issuedAt}`;

/**
 * Returns a condition that joins attempts by their id, for an update whose parameters limit the partitions. An equality would prune them
 * too, and with both PostgreSQL 18 frees memory twice when the update evaluates a row again that another transaction has changed.
 * @param attempt alias of the table
 * @param other alias of rows with an id
 */
export const hasIdOf = (attempt: string, other: string) => `${attempt}.id is not distinct from ${other}.id`;

/**
 * Returns a condition: whether a browser is known for an address by its device cookie, so that limits that others used up do not apply.
 * @param device as SQL
 * @param email as SQL
 */
export const isKnown = (device: string, email: string) =>
  `exists (select from remembered_keys known where known.device = ${device} and known.email = ${email})`;
