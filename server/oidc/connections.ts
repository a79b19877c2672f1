import type pg from 'pg';
import { Fault } from '../../contract/errors.ts';
import type { Output } from '../../contract/routes.ts';
import { APPLICATION_SCOPES } from '../../contract/scopes.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { clientKindOf } from './clients.ts';

/** The clients of OpenID Connect that a person has signed in to. What is revoked here has ended on all instances. */
export class Connections {
  readonly #core: Database['core'];

  constructor({ core }: Pick<Database, 'core'>) {
    this.#core = core;
  }

  /** Returns the person's connections, the last used one first. */
  async list({ email }: Account): Promise<Output<'listConnections'>> {
    return (await readConnections(this.#core, email)).map(present);
  }

  /** Ends a connection with its codes and tokens. @throws Fault connection_not_found */
  async revoke({ email }: Account, id: string): Promise<Output<'revokeConnection'>> {
    if (!(await revokeConnection(this.#core, email, id))) throw new Fault('connection_not_found');
    return { success: true };
  }
}

function present({ id, clientId, client, grants, createdAt, lastUsed }: ConnectionRecord): Output<'listConnections'>[number] {
  const granted = new Set(grants.flatMap(scopesOf));
  const host = hostOf(client?.redirectUris[0] ?? clientId);
  return {
    id,
    clientId,
    name: client?.name || host || clientId,
    host,
    kind: clientKindOf(clientId) ?? 'registered',
    scopes: APPLICATION_SCOPES.filter((scope) => granted.has(scope)),
    createdAt: createdAt.toISOString(),
    lastUsed: lastUsed.toISOString(),
  };
}

const scopesOf = ({ openid, resources = {} }: ConnectionRecord['grants'][number]) =>
  [openid?.scope ?? '', ...Object.values(resources)].flatMap((scope) => scope.split(' '));

/** Returns the host of a URL, or the scheme of a native program's; null for a text that is not a URL. */
function hostOf(uri: string): string | null {
  if (!URL.canParse(uri)) return null;
  const { hostname, protocol } = new URL(uri);
  return hostname || protocol.slice(0, -1);
}

export function connectionRoutes(connections: Connections): Served[] {
  return [
    serve('listConnections', (_, { account }) => connections.list(account)),
    serve('revokeConnection', ({ id }, { account }) => connections.revoke(account, id)),
  ];
}

/** The id of a connection, derived from its client_id, as SQL. */
const ID = "encode(substring(sha256(convert_to(g.client_id, 'UTF8')) from 1 for 16), 'hex')";

const LIST = `
select ${ID} as id, g.client_id as "clientId", min(g.created_at) as "createdAt",
  max(greatest(g.created_at, (select max(t.created_at) from oidc_records t where t.grant_id = g.id))) as "lastUsed",
  array_agg(g.payload) as grants,
  (select row_to_json(a) from (
    select name, redirect_uris as "redirectUris" from applications where client_id = g.client_id
    union all
    select payload->>'client_name', array(select jsonb_array_elements_text(payload->'redirect_uris')) from oidc_records
    where kind = 'Client' and id = sha256(convert_to(g.client_id, 'UTF8'))
  ) a limit 1) as client
from oidc_records g
where g.email = $1 and g.kind = 'Grant' and (g.expires_at is null or g.expires_at > now())
group by g.client_id
order by "lastUsed" desc, g.client_id`;

// A token that a concurrent request issues with an ended grant is invalid too, because its grant is not found.
const REVOKE = `
with ended as (delete from oidc_records g where g.email = $1 and g.kind = 'Grant' and ${ID} = $2 returning g.id),
tokens as (delete from oidc_records where grant_id in (select id from ended)),
audit as (insert into audit_log (action, email) select 'connection_revoked', $1 from ended limit 1)
select 1 from ended limit 1`;

/** What a person granted to one client: the payloads of oidc-provider, and what is known about the client. */
type ConnectionRecord = {
  id: string;
  clientId: string;
  createdAt: Date;
  lastUsed: Date;
  grants: { openid?: { scope?: string }; resources?: Record<string, string> }[];
  /** Null: a website, or a client whose metadata are not stored here. */
  client: { name: string | null; redirectUris: string[] } | null;
};

/** Returns the clients that a person is connected to, the last used one first. */
async function readConnections(core: pg.Pool, email: string): Promise<ConnectionRecord[]> {
  const { rows } = await core.query<ConnectionRecord>({ name: 'oidc-connections', text: LIST, values: [email] });
  return rows;
}

/** Ends a person's grants to one client with their codes and tokens, and records it in the audit log. @returns false when there are none */
async function revokeConnection(core: pg.Pool, email: string, id: string): Promise<boolean> {
  const { rows } = await core.query({ name: 'oidc-connection-revoke', text: REVOKE, values: [email, id] });
  return rows.length > 0;
}
