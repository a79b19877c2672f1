import { stripVTControlCharacters } from 'node:util';
import { redirectUriFault } from '../../contract/redirect-uris.ts';
import { SECRET_GRACE_HOURS } from '../../contract/rules.ts';
import { CLIENT_CHOICES, CLIENT_FLAGS, formatApp, printChangedApp, REDIRECT_URI, requireApp, settingsOf } from '../apps.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { listCommand } from '../lists.ts';
import { promptText, requireConfirmation, requiredName } from '../prompts.ts';
import { shapeOf } from '../shapes.ts';
import { minuteOf, records, type Terminal, wrap } from '../terminal.ts';

const appsList = listCommand({
  usage: 'apps list',
  group: 'Account',
  summary: 'your applications (OAuth clients)',
  examples: ['apps list', "apps list --json | jq -r '.[].clientId'"],
  json: shapeOf('listClients'),
  load: (client) => client.listClients({}),
  columns: {
    NAME: ({ name }) => name,
    'CLIENT ID': ({ clientId }) => clientId,
    ACTIVE: ({ isActive }) => (isActive ? 'yes' : 'no'),
    'REDIRECT URIS': ({ redirectUris }) => redirectUris.join(' '),
  },
  empty: 'You have no applications yet. Add one: `emailauth apps add Notes --redirect-uri https://notes.example/callback`',
});

const appsAdd: CommandSpec = {
  usage: 'apps add [name]',
  needs: 'sign-in',
  group: 'Account',
  summary: 'add an application that signs people in by OpenID Connect or OAuth 2.0 with PKCE',
  about:
    'Without --auth it is a public client: it has a client ID and no secret. With --auth secret its client secret is printed once; the service keeps its hash and cannot show it again.',
  choices: CLIENT_CHOICES,
  flags: { '--redirect-uri <uri...>': REDIRECT_URI, ...CLIENT_FLAGS },
  examples: [
    'apps add Notes --redirect-uri https://notes.example/callback',
    'apps add Notes --redirect-uri https://notes.example/callback http://localhost/callback --json',
    "apps add Grafana --auth secret --redirect-uri https://grafana.example/login/generic_oauth --json | jq -r '.clientSecret'",
  ],
  json: shapeOf('createClient'),
  exits: { 6: 'your account has the maximum number of applications' },
  async run({ terminal, signedIn }, [given], { redirectUri, ...flags }) {
    const settings = await settingsOf(flags);
    const { client } = await signedIn();
    const name = given ?? (await promptText(terminal, { message: 'Name', flag: '<name>', placeholder: 'Notes', validate: requiredName }));
    const redirectUris = redirectUri ?? [await promptRedirectUri(terminal)];
    return printChangedApp(terminal, await client.createClient({ name, redirectUris, ...settings }));
  },
};

function promptRedirectUri(terminal: Terminal): Promise<string> {
  const validate = (text: string) => {
    const fault = redirectUriFault(text.trim());
    return fault ? `This ${fault}.` : undefined;
  };
  const placeholder = 'https://notes.example/callback';
  return promptText(terminal, { message: 'Redirect URI', flag: '--redirect-uri <uri>', placeholder, validate });
}

const appsGet: CommandSpec = {
  usage: 'apps get <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'one application, by its name, client ID or id',
  examples: ['apps get Notes'],
  json: elementShape(shapeOf('listClients')),
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const app = await requireApp(client, given);
    terminal.result(app, formatApp(app, terminal));
    return EXIT.ok;
  },
};

/** Returns the shape of an element of a list: without the brackets. */
function elementShape(listShape: string): string {
  return listShape.slice(1, -1);
}

const appsUpdate: CommandSpec = {
  usage: 'apps update <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'change an application, or switch it off',
  about:
    'What is not given stays as it is. Switching it off ends its tokens and open sign-ins for good, and changing its authentication ends its client secret: you confirm that, or pass --yes.',
  choices: CLIENT_CHOICES,
  flags: {
    '--name <name>': 'the new name',
    '--redirect-uri <uri...>': `replaces all redirect URIs; ${REDIRECT_URI}`,
    ...CLIENT_FLAGS,
    '--no-logout-uri': 'remove all logout URIs',
    '--no-backchannel-logout-uri': 'send no logout tokens',
    '--active': 'switch it on',
    '--no-active': 'switch it off: it signs no one in',
  },
  examples: [
    'apps update Notes --redirect-uri https://notes.example/return',
    'apps update Notes --scopes openid email websites:read',
    'apps update Notes --no-active --yes',
  ],
  json: shapeOf('updateClient'),
  async run({ terminal, signedIn }, [given = ''], { name, redirectUri, active, ...flags }) {
    const settings = await settingsOf(flags);
    if (name === undefined && redirectUri === undefined && active === undefined && Object.keys(settings).length === 0)
      throw usageError('Nothing to change.', 'Give a flag, such as --name, --redirect-uri, --active or --no-active.');
    const { client } = await signedIn();
    const current = await requireApp(client, given);
    const { authentication } = settings;
    if (current.authentication === 'secret' && authentication && authentication !== 'secret')
      await requireConfirmation(terminal, `The client secret of ${current.name} stops working immediately. Change its authentication?`);
    if (current.isActive && active === false)
      await requireConfirmation(terminal, `The tokens and open sign-ins of ${current.name} end immediately. Switch it off?`);
    const app = await client.updateClient({
      ...settings,
      id: current.id,
      name: name ?? current.name,
      redirectUris: redirectUri ?? current.redirectUris,
      isActive: active ?? current.isActive,
    });
    return printChangedApp(terminal, app);
  },
};

const appsRemove: CommandSpec = {
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

const appsLog: CommandSpec = {
  usage: 'apps log <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the last hundred sign-ins of an application, newest first',
  examples: ['apps log Notes'],
  json: shapeOf('clientLogs'),
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

const appsRotateSecret: CommandSpec = {
  usage: 'apps rotate-secret <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'replace the client secret of an application and print the new one, once',
  about:
    'Only the secret goes to stdout, so that a file or a secret store can take it. The former one works for some hours more. With --grace 0 every former secret ends at once: you confirm that, or pass --yes.',
  choices: { '--grace': SECRET_GRACE_HOURS.map(String) },
  flags: { '--grace <hours>': `how long the former secret still works: ${SECRET_GRACE_HOURS.join(', ')}; 24 by default` },
  examples: ['apps rotate-secret Grafana > secret.txt', 'apps rotate-secret Grafana --grace 0 --yes'],
  json: '{clientId,clientSecret,formerSecretUntil}',
  exits: { 6: 'the secret was rotated already, and the former one is still valid' },
  async run({ terminal, signedIn }, [given = ''], { grace = '24' }) {
    const graceHours = Number(grace) as (typeof SECRET_GRACE_HOURS)[number];
    const { client } = await signedIn();
    const { id, name } = await requireApp(client, given);
    if (graceHours === 0) await requireConfirmation(terminal, `The client secret of ${name} stops working immediately. Replace it?`);
    const { clientId, clientSecret = '', formerSecretUntil } = await client.rotateClientSecret({ id, graceHours });
    const former = formerSecretUntil ? `The former one is valid until ${minuteOf(formerSecretUntil)} UTC.` : 'The former one has ended.';
    terminal.note(`The new client secret of ${name} is shown only this once: store it now. ${former}`);
    terminal.result({ clientId, clientSecret, formerSecretUntil }, clientSecret);
    return EXIT.ok;
  },
};

const appsRefusals: CommandSpec = {
  usage: 'apps refusals <app>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the last requests of an application that were rejected, and what to change',
  examples: ['apps refusals Notes', "apps refusals Notes --json | jq -r '.[0].remedy'"],
  json: shapeOf('clientRefusals'),
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const { id, name } = await requireApp(client, given);
    const refusals = await client.clientRefusals({ id });
    const blocks = refusals.map(({ createdAt, error, description, remedy }) => {
      const lines = [stripVTControlCharacters(description), remedy]
        .flatMap((text) => wrap(text, terminal.columns - 2))
        .map((line) => `  ${line}`);
      return [`${terminal.style('dim', minuteOf(createdAt))}  ${terminal.style('red', stripVTControlCharacters(error))}`, ...lines].join(
        '\n',
      );
    });
    terminal.result(refusals, blocks.join('\n'));
    if (refusals.length === 0) terminal.note(`No request of ${name} was rejected.`);
    return EXIT.ok;
  },
};

export const appsCommands: readonly CommandSpec[] = [
  appsList,
  appsAdd,
  appsGet,
  appsUpdate,
  appsRemove,
  appsRotateSecret,
  appsLog,
  appsRefusals,
];
