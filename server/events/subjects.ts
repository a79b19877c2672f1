import { isApplicationId } from '../applications/applications.ts';
import { LOCALHOST, registrableOf } from '../websites/domains.ts';

/**
 * Returns whose event a step of a sign-in is: a registrable domain, or the client ID of an application. A website is a client of OpenID
 * Connect under its origin. Null for the portal and for programs that registered themselves, whose events nobody could read.
 */
export function subjectOf({ domain, clientId }: { domain: string | null; clientId: string | null }): string | null {
  if (domain !== null || clientId === null || isApplicationId(clientId)) return domain ?? clientId;
  if (!/^https?:/.test(clientId) || !URL.canParse(clientId)) return null;
  const { origin, hostname } = new URL(clientId);
  return origin === clientId ? registrableOf(hostname) : null;
}

/**
 * Returns the SQL expression of the subject of a row of the audit log, for rows that may be of some subjects: their domain, or for their
 * client_id what subjectOf returns.
 * @param subjects a parameter of type text[]
 */
export const subjectOfRow = (subjects: string) => `coalesce(domain, case
    when client_id is null then null
    when client_id like 'https://%' then (
      select array_to_string(labels[n:], '.')
      from (select string_to_array(substring(client_id from '^https://([^/:]+)$'), '.') as labels) host
        cross join lateral generate_series(1, cardinality(labels)) n
      where array_to_string(labels[n:], '.') = any(${subjects}) limit 1)
    when client_id like 'http://%' then '${LOCALHOST}'
    else client_id end)`;
