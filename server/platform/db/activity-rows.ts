import { LOCALHOST } from '../../../contract/urls.ts';

/**
 * A new row of the audit log, as SQL expressions. The website and the application are those of `domain` and `clientId` at this time; a
 * statement that adds or deletes a website gives its id itself.
 */
type NewRow = { action: string } & Partial<
  Record<
    'email' | 'domain' | 'clientId' | 'websiteId' | 'actor' | 'object' | 'method' | 'signIn' | 'seconds' | 'device' | 'network',
    string
  >
>;

/**
 * Returns a statement that adds rows to the audit log.
 * @param from what follows `from`, a row for each new one; without it, there is one
 */
export function addActivity(row: NewRow, from?: string): string {
  const given = Object.entries(row).map(([name, value]) => ({ column: columnOf(name), value }));
  const source = from ? ` from ${from}` : '';
  const columns = given.map(({ column }) => column);
  const found = [
    ...(row.websiteId || !(row.domain || row.clientId) ? [] : [{ column: 'website_id', value: websiteOf(row) }]),
    ...(row.clientId ? [{ column: 'application_id', value: applicationOf('given.client_id') }] : []),
  ];
  if (found.length === 0)
    return `insert into audit_log (${columns.join(', ')}) select ${given.map(({ value }) => value).join(', ')}${source}`;
  return `insert into audit_log (${[...columns, ...found.map(({ column }) => column)].join(', ')})
  select given.*, ${found.map(({ value }) => value).join(', ')}
  from (select ${given.map(({ column, value }) => `${value} as ${column}`).join(', ')}${source}) given`;
}

/** Returns the name of a column, in snake case. */
export const columnOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function websiteOf({ domain, clientId }: NewRow): string {
  const [byDomain, byClient] = ['(select w.id from websites w where w.domain = given.domain)', websiteOfClient('given.client_id')];
  if (!clientId) return byDomain;
  return domain ? `coalesce(${byDomain}, ${byClient})` : byClient;
}

const applicationOf = (clientId: string) =>
  `case when ${clientId} like 'app\\_%' then (select a.id from applications a where a.client_id = ${clientId}) end`;

/**
 * Returns the SQL expression of the website that is a client of OpenID Connect: under its origin, which may have a subdomain; on this
 * computer, under any port.
 */
export const websiteOfClient = (clientId: string) => `case
    when ${clientId} like 'http://%' then (select w.id from websites w where w.domain = '${LOCALHOST}')
    when ${clientId} like 'https://%' then (
      select w.id from string_to_array(substring(${clientId} from '^https://([^/:]+)$'), '.') as labels
        cross join lateral generate_series(1, cardinality(labels)) n
        join websites w on w.domain = array_to_string(labels[n:], '.')
      order by n limit 1)
    end`;

/**
 * A step of a sign-in that the audit log does not contain, as SQL expressions. `subject`: a domain, or the client ID of an application.
 */
type NewStep = { action: string; subject: string } & Partial<Record<'result' | 'email' | 'signIn' | 'count', string>>;

/**
 * Returns a statement that adds steps. Those of domains that are not registered, and of applications that do not exist, are left out: no one
 * could see them.
 * @param from what follows `from`, a row for each step
 */
export function addSteps(step: NewStep, from: string): string {
  const { subject, ...given } = step;
  const columns = Object.keys(given).map(columnOf).join(', ');
  const values = Object.entries(given).map(([name, value]) => `${value} as ${columnOf(name)}`);
  return `insert into sign_in_steps (${columns}, domain, client_id, website_id, application_id)
  select ${columns}, case when website_id is not null then subject end, case when application_id is not null then subject end, website_id, application_id
  from (
    select given.*, (select w.id from websites w where w.domain = given.subject) as website_id, ${applicationOf('given.subject')} as application_id
    from (select ${values.join(', ')}, ${subject} as subject from ${from}) given
  ) found where website_id is not null or application_id is not null`;
}
