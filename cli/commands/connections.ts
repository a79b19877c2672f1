import { stripVTControlCharacters } from 'node:util';
import type { Output } from '../../contract/routes.ts';
import { SCOPE_DESCRIPTIONS } from '../../contract/scopes.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit.ts';
import { requireOne } from '../find.ts';
import { requireConfirmation } from '../prompts.ts';
import { dayOf } from '../sites.ts';
import { records } from '../text.ts';

type Connection = Output<'listConnections'>[number];

export const connectionsList: CommandSpec = {
  usage: 'connections list',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the applications that you signed in to with this service, and what they may do',
  examples: ['connections list', "connections list --json | jq -r '.[].clientId'"],
  json: '[{id,clientId,name,host,kind,scopes,createdAt,lastUsed}]',
  async run({ terminal, signedIn }) {
    const { client } = await signedIn();
    const connections = await client.listConnections({});
    const rows = connections.map(({ name, host, scopes, createdAt, lastUsed }) => [
      stripVTControlCharacters(name),
      host ?? '',
      dayOf(createdAt),
      dayOf(lastUsed),
      scopes.map((scope) => SCOPE_DESCRIPTIONS[scope]).join(', '),
    ]);
    terminal.result(connections, rows.length > 0 ? records(['NAME', 'HOST', 'SINCE', 'LAST USED', 'IT MAY'], rows, terminal) : '');
    if (rows.length === 0) terminal.note('You are not connected to any application.');
    return EXIT.ok;
  },
};

export const connectionsRevoke: CommandSpec = {
  usage: 'connections revoke <connection>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'disconnect an application: its tokens become invalid immediately',
  about: 'Name it by its name, host, client ID or id. You confirm it, or pass --yes. It can ask you again at the next sign-in.',
  examples: ['connections revoke Notes', 'connections revoke notes.example --yes'],
  json: '{id,clientId,name,revoked}',
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const { id, clientId, name } = requireConnection(await client.listConnections({}), given);
    await requireConfirmation(terminal, `The tokens of ${name} become invalid immediately. Disconnect it?`);
    await client.revokeConnection({ id });
    terminal.result({ id, clientId, name, revoked: true }, `${name} is disconnected.`);
    return EXIT.ok;
  },
};

/** @throws CommandError connection_not_found */
function requireConnection(connections: readonly Connection[], text: string): Connection {
  return requireOne(connections, text, {
    noun: 'connection',
    code: 'connection_not_found',
    list: 'connections list',
    namesOf: ({ id, clientId, name, host }) => [...new Set([id, clientId, name, host ?? id])],
    idOf: ({ id }) => id,
  });
}
