import type { Client } from '../../contract/client.ts';
import type { Output } from '../../contract/routes.ts';
import { redirectUriFault } from '../../contract/rules.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { requireOne } from '../find.ts';
import { promptText, requireConfirmation } from '../prompts.ts';
import { dayOf } from '../sites.ts';
import type { Terminal } from '../terminal.ts';
import { records } from '../text.ts';

type Application = Output<'listClients'>[number];

const APP_SHAPE = '{id,name,clientId,redirectUris,isActive,createdAt}';
const REDIRECT_URI = 'where sign-ins lead to, compared exactly: https, or http to localhost with any port; up to ten';

export const appsList: CommandSpec = {
  usage: 'apps list',
  needs: 'sign-in',
  group: 'Account',
  summary: 'your applications (OAuth clients)',
  examples: ['apps list', "apps list --json | jq -r '.[].clientId'"],
  json: `[${APP_SHAPE}]`,
  async run({ terminal, signedIn }) {
    const { client } = await signedIn();
    const apps = await client.listClients({});
    const rows = apps.map(({ name, clientId, isActive, redirectUris }) => [
      name,
      clientId,
      isActive ? 'yes' : 'no',
      redirectUris.join(' '),
    ]);
    terminal.result(apps, apps.length > 0 ? records(['NAME', 'CLIENT ID', 'ACTIVE', 'REDIRECT URIS'], rows, terminal) : '');
    if (apps.length === 0)
      terminal.note('You have no applications yet. Add one: `emailauth apps add Notes --redirect-uri https://notes.example/callback`');
    return EXIT.ok;
  },
};

export const appsAdd: CommandSpec = {
  usage: 'apps add [name]',
  needs: 'sign-in',
  group: 'Account',
  summary: 'add an application that signs people in by OAuth 2.0 with PKCE',
  about: 'It is a public client: it has a client ID and no secret. Its tokens identify a person for an hour.',
  flags: { '--redirect-uri <uri...>': REDIRECT_URI },
  examples: [
    'apps add Notes --redirect-uri https://notes.example/callback',
    'apps add Notes --redirect-uri https://notes.example/callback http://localhost/callback --json',
  ],
  json: APP_SHAPE,
  exits: { 6: 'your account has the maximum number of applications' },
  async run({ terminal, signedIn }, [given], { redirectUri }) {
    const { client } = await signedIn();
    const name = given ?? (await promptText(terminal, { message: 'Name', flag: '<name>', placeholder: 'Notes', validate: requiredName }));
    const redirectUris = redirectUri ?? [await promptRedirectUri(terminal)];
    const app = await client.createClient({ name, redirectUris });
    terminal.result(app, formatApp(app, terminal));
    return EXIT.ok;
  },
};

const requiredName = (text: string) => (text.trim() === '' ? 'Name is required' : undefined);

function promptRedirectUri(terminal: Terminal): Promise<string> {
  const validate = (text: string) => {
    const fault = redirectUriFault(text.trim());
    return fault ? `This ${fault}.` : undefined;
  };
  const placeholder = 'https://notes.example/callback';
  return promptText(terminal, { message: 'Redirect URI', flag: '--redirect-uri <uri>', placeholder, validate });
}

export const appsGet: CommandSpec = {
  usage: 'apps get <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'one application, by its name, client ID or id',
  examples: ['apps get Notes'],
  json: APP_SHAPE,
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const app = await requireApp(client, given);
    terminal.result(app, formatApp(app, terminal));
    return EXIT.ok;
  },
};

export const appsUpdate: CommandSpec = {
  usage: 'apps update <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'change the name or the redirect URIs of an application, or switch it off',
  about: 'Switching it off ends its tokens and open sign-ins for good: you confirm that, or pass --yes.',
  flags: {
    '--name <name>': 'the new name',
    '--redirect-uri <uri...>': `replaces all redirect URIs; ${REDIRECT_URI}`,
    '--active': 'switch it on',
    '--no-active': 'switch it off: it signs no one in',
  },
  examples: ['apps update Notes --redirect-uri https://notes.example/return', 'apps update Notes --no-active --yes'],
  json: APP_SHAPE,
  async run({ terminal, signedIn }, [given = ''], { name, redirectUri, active }) {
    if (name === undefined && redirectUri === undefined && active === undefined)
      throw usageError('Nothing to change.', 'Give --name, --redirect-uri, --active or --no-active.');
    const { client } = await signedIn();
    const { id, clientId: _, createdAt: __, ...current } = await requireApp(client, given);
    if (current.isActive && active === false)
      await requireConfirmation(terminal, `The tokens and open sign-ins of ${current.name} end immediately. Switch it off?`);
    const app = await client.updateClient({
      id,
      name: name ?? current.name,
      redirectUris: redirectUri ?? current.redirectUris,
      isActive: active ?? current.isActive,
    });
    terminal.result(app, formatApp(app, terminal));
    return EXIT.ok;
  },
};

export const appsRemove: CommandSpec = {
  usage: 'apps remove <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'delete an application with its log; its tokens and open sign-ins end immediately',
  about: 'You confirm it, or pass --yes.',
  examples: ['apps remove Notes', 'apps remove Notes --yes'],
  json: '{id,name,clientId,removed}',
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const { id, name, clientId } = await requireApp(client, given);
    await requireConfirmation(
      terminal,
      `The tokens and open sign-ins of ${name} end immediately, and its client ID stops working. Delete it?`,
    );
    await client.deleteClient({ id });
    terminal.result({ id, name, clientId, removed: true }, `${name} is removed.`);
    return EXIT.ok;
  },
};

export const appsLog: CommandSpec = {
  usage: 'apps log <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the last hundred sign-ins of an application, newest first',
  examples: ['apps log Notes'],
  json: '[{id,action,email,createdAt}]',
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const { id, name } = await requireApp(client, given);
    const log = await client.clientLogs({ id });
    const rows = log.map(({ createdAt, action, email }) => [minuteOf(createdAt), action, email ?? '']);
    terminal.result(log, log.length > 0 ? records(['TIME (UTC)', 'ACTION', 'EMAIL'], rows, terminal) : '');
    if (log.length === 0) terminal.note(`No one has signed in through ${name} yet.`);
    return EXIT.ok;
  },
};

/** Returns the minute of an ISO 8601 time, in UTC. */
const minuteOf = (time: string) => time.slice(0, 16).replace('T', ' ');

/** @throws CommandError application_not_found */
async function requireApp(client: Client, text: string): Promise<Application> {
  return requireOne(await client.listClients({}), text, {
    noun: 'application',
    code: 'application_not_found',
    list: 'apps list',
    namesOf: ({ id, clientId, name }) => [id, clientId, name],
    idOf: ({ clientId }) => clientId,
  });
}

function formatApp({ name, clientId, redirectUris, isActive, createdAt }: Application, { style }: Terminal): string {
  const rows: [string, string][] = [
    ['client ID', clientId],
    ['active', isActive ? 'yes' : 'no: it signs no one in'],
    ...redirectUris.map((uri, i): [string, string] => [i === 0 ? 'redirects' : '', uri]),
    ['since', dayOf(createdAt)],
  ];
  return [style('bold', name), ...rows.map(([term, value]) => `  ${style('dim', term.padEnd(11))}${value}`)].join('\n');
}
