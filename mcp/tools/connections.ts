import { z } from 'zod';
import { Connection } from '../../contract/account.ts';
import { SCOPE_DESCRIPTIONS } from '../../contract/scopes.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { refusal } from '../result.ts';
import { defineTool } from '../tool.ts';

export const listConnections = defineTool({
  name: 'list_connections',
  title: 'My connected applications',
  description:
    'Lists the applications, websites and programs that the person signed in to with this service by OpenID Connect, what each may do, and when it last received a token. Call it when the person asks which applications have access, or to find the id that revoke_connection takes. It needs the sign-in of a person, not an API key.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.object({}),
  output: z.object({ connections: z.array(z.object(Connection.shape)) }),
  run: async (_, { client }, signal) => ({ connections: await client.listConnections({}, { signal }) }),
  text: ({ connections }) =>
    connections.length === 0
      ? 'There is no connected application.'
      : connections
          .map(({ id, name, host, scopes, lastUsed }) => {
            const may = scopes.map((scope) => SCOPE_DESCRIPTIONS[scope]).join(', ');
            return `${oneLine(name, 80)}${host ? ` at ${oneLine(host, 80)}` : ''} (${id}): it may ${may || 'do nothing'}; last used ${lastUsed}.`;
          })
          .join('\n'),
});

export const revokeConnection = defineTool({
  name: 'revoke_connection',
  title: 'Disconnect an application',
  description:
    'Disconnects an application that the person signed in to: all of its tokens become invalid immediately, and it has to ask again. Call it only when the person asked for exactly this application, and repeat its name in confirmName. list_connections shows both.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({
    connectionId: z.string().trim().min(1).max(60).describe('Id of the connection, as list_connections shows it'),
    confirmName: z.string().max(300).describe('The name of the application, as the person confirmed it'),
  }),
  output: z.object({ connectionId: z.string(), name: z.string(), revoked: z.literal(true) }),
  async run({ connectionId, confirmName }, { client }, signal) {
    const connection = (await client.listConnections({}, { signal })).find(({ id }) => id === connectionId);
    if (!connection) {
      const message = `"${oneLine(connectionId, 60)}" is not the id of one of your connections.`;
      throw refusal('connection_not_found', message, 'list_connections shows them.');
    }
    if (confirmName.trim() !== connection.name) {
      throw refusal(
        'confirmation_needed',
        'confirmName is not the name of this application, so nothing was ended.',
        'Ask the person whether this application is to be disconnected, and only then repeat its name in confirmName.',
      );
    }
    await client.revokeConnection({ id: connectionId }, { signal });
    return { connectionId, name: connection.name, revoked: true as const };
  },
  text: ({ name }) => `${oneLine(name, 80)} is disconnected. Its tokens are invalid.`,
});
