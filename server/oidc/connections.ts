import { Fault } from '../../contract/errors.ts';
import type { Output } from '../../contract/routes.ts';
import { APPLICATION_SCOPES } from '../../contract/scopes.ts';
import type { Database } from '../db/database.ts';
import { type Account, type Served, serve } from '../http/serve.ts';
import { clientKindOf } from './client-ids.ts';
import { type ConnectionRecord, readConnections, revokeConnection } from './connections-store.ts';

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
