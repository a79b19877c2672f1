import { stripVTControlCharacters } from 'node:util';
import type { Output } from '../../contract/calls.ts';
import type { Client } from '../../contract/client.ts';
import { KEY_GRACE_HOURS } from '../../contract/rules.ts';
import { RESOURCE_SCOPES, type ResourceScope, SCOPE_DESCRIPTIONS } from '../../contract/scopes.ts';
import type { CommandSpec, Context, Flags } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';
import { listCommand, requireOne } from '../lists.ts';
import { promptText, requireConfirmation, requiredName } from '../prompts.ts';
import { shapeOf } from '../shapes.ts';
import { dayOf, minuteOf, records, type Terminal, table } from '../terminal.ts';

type ApiKey = Output<'listApiKeys'>[number];

const keysList = listCommand({
  usage: 'keys list',
  group: 'Account',
  summary: 'your API keys, active ones and those that ended within 30 days',
  examples: ['keys list', 'keys list --json'],
  json: shapeOf('listApiKeys'),
  load: (client) => client.listApiKeys({}),
  columns: {
    NAME: ({ name }) => name,
    KEY: ({ keyId }) => keyId,
    KIND: ({ environment }) => environment,
    SCOPES: ({ scopes }) => scopes?.join(' ') ?? 'all',
    STATUS: (key) => statusOf(key),
    'LAST USED': ({ lastUsed }) => (lastUsed ? dayOf(lastUsed) : 'never'),
  },
  empty: 'You have no API keys yet. Create one: `emailauth keys create "Deploy script"`',
});

const keysCreate: CommandSpec = {
  usage: 'keys create [name]',
  needs: 'sign-in',
  group: 'Account',
  summary: 'create an API key and print it, once',
  about:
    'Only the key goes to stdout, so that a file or a secret store can take it. The service keeps its hash and cannot show it again. An API key itself cannot create keys.',
  choices: { '--scopes': RESOURCE_SCOPES },
  flags: {
    '--test': 'the key can read, but not change anything',
    '--scopes <scope...>': `what the key may be used for: ${RESOURCE_SCOPES.join(', ')}; everything by default`,
  },
  examples: ['keys create deploy > key.txt', 'keys create "Deploy script" --test --json', 'keys create Charts --scopes stats:read'],
  json: shapeOf('createApiKey'),
  exits: { 6: 'your account has the maximum number of API keys' },
  async run({ terminal, signedIn }, [given], { test = false, scopes }) {
    const { client } = await signedIn();
    const name =
      given ??
      (await promptText(terminal, { message: 'What is it for', flag: '<name>', placeholder: 'Deploy script', validate: requiredName }));
    const key = await client.createApiKey({ name, environment: test ? 'test' : 'live', scopes: scopes as ResourceScope[] | undefined });
    return printNewKey(terminal, key);
  },
};

const keysRotate: CommandSpec = {
  usage: 'keys rotate <key>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'replace an API key by a new one and print that, once',
  about:
    'The old key works for some hours more, so that you can replace it everywhere first. With --grace 0 it ends at once: you confirm that, or pass --yes.',
  choices: { '--grace': KEY_GRACE_HOURS.map(String) },
  flags: { '--grace <hours>': `how long the old key still works: ${KEY_GRACE_HOURS.join(', ')}; 24 by default` },
  examples: ['keys rotate "Deploy script"', 'keys rotate ea_live_abc123 --grace 1 > key.txt'],
  json: shapeOf('rotateApiKey'),
  async run({ terminal, signedIn }, [given = ''], { grace = '24' }) {
    const graceHours = Number(grace) as (typeof KEY_GRACE_HOURS)[number];
    const { client } = await signedIn();
    const { id, keyId } = await requireApiKey(client, given, ({ isActive, expiresAt }) => isActive && expiresAt === null);
    if (graceHours === 0) await requireConfirmation(terminal, `${keyId} stops working within a second. Replace it?`);
    const key = await client.rotateApiKey({ id, graceHours });
    const left = graceHours === 0 ? 'has ended' : `still works for ${graceHours === 1 ? '1 hour' : `${graceHours} hours`}`;
    terminal.note(`${keyId} ${left}.`);
    return printNewKey(terminal, key);
  },
};

const keysRevoke: CommandSpec = {
  usage: 'keys revoke <key>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'end an API key; it stops working within a second',
  about: 'You confirm it, or pass --yes.',
  examples: ['keys revoke "Deploy script"', 'keys revoke ea_live_abc123 --yes'],
  json: '{id,name,keyId,revoked}',
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const { id, name, keyId } = await requireApiKey(client, given, ({ isActive }) => isActive);
    await requireConfirmation(terminal, `${keyId} (${name}) stops working within a second, wherever it is used. Revoke it?`);
    await client.revokeApiKey({ id });
    terminal.result({ id, name, keyId, revoked: true }, `${keyId} is revoked.`);
    return EXIT.ok;
  },
};

const keysUsage: CommandSpec = {
  usage: 'keys usage <key>',
  needs: 'sign-in',
  group: 'Account',
  summary: 'the calls with an API key on each of 30 UTC days',
  examples: ['keys usage "Deploy script"', 'keys usage ea_live_abc123 --json'],
  json: shapeOf('apiKeyUsage'),
  async run({ terminal, signedIn }, [given = '']) {
    const { client } = await signedIn();
    const { id } = await requireApiKey(client, given, () => true);
    const usage = await client.apiKeyUsage({ id });
    const count = (value: number) => value.toLocaleString('en').padStart('REFUSED'.length);
    const rows = usage.days
      .filter(({ calls, refused }) => calls + refused > 0)
      .map((day) => [day.date, count(day.calls), count(day.refused)]);
    const days = rows.length > 0 ? `\n\n${records(['DATE', '  CALLS', 'REFUSED'], rows, terminal)}` : '';
    terminal.result(usage, `${table([['calls in 30 days', usage.total.toLocaleString('en')]])}${days}`);
    return EXIT.ok;
  },
};

/** Prints the secret on stdout, and everything about it on stderr. */
function printNewKey(terminal: Terminal, key: Output<'createApiKey'>): number {
  const permission =
    key.environment === 'live' ? 'It has full access to your websites and applications' : 'It can read everything, but change nothing';
  const limit = key.scopes ? `, as far as ${key.scopes.join(' and ')} permit` : '';
  terminal.note(
    `The API key "${key.name}" is shown only this once: store it now. ${permission}${limit}. Set EMAILAUTH_TOKEN to use it here.`,
  );
  terminal.result(key, key.key);
  return EXIT.ok;
}

function statusOf({ isActive, expiresAt }: ApiKey): string {
  if (!isActive) return 'ended';
  return expiresAt ? `until ${minuteOf(expiresAt)}` : 'active';
}

/** Returns the key that a text names among those that are usable for the command. @throws CommandError api_key_not_found */
async function requireApiKey(client: Client, text: string, isUsable: (key: ApiKey) => boolean): Promise<ApiKey> {
  return requireApiKeyAmong((await client.listApiKeys({})).filter(isUsable), text);
}

/** @throws CommandError api_key_not_found */
function requireApiKeyAmong(keys: readonly ApiKey[], text: string): ApiKey {
  return requireOne(keys, text, {
    noun: 'API key',
    list: 'keys list',
    // A list shows the beginning of a key with an ellipsis, which is hard to type.
    namesOf: ({ id, keyId, name }) => [id, keyId, keyId.replace('…', ''), name],
    idOf: ({ keyId }) => keyId,
  });
}

type Device = Output<'listDevices'>[number];
type OwnPasskey = Output<'listPasskeys'>['passkeys'][number];

const devicesList = listCommand({
  usage: 'devices list',
  group: 'Account',
  summary: 'the browsers and programs in which you are signed in, or remembered',
  examples: ['devices list', "devices list --json | jq -r '.[] | select(.current | not).id'"],
  json: shapeOf('listDevices'),
  load: (client) => client.listDevices({}),
  columns: {
    DEVICE: ({ label }) => label,
    STATUS: ({ current, signedIn }) => (current ? 'this one' : signedIn ? 'signed in' : 'remembered'),
    'LAST SEEN': ({ lastSeen }) => dayOf(lastSeen),
    ID: ({ id }) => id,
  },
});

const devicesRevoke: CommandSpec = {
  usage: 'devices revoke [device]',
  needs: 'sign-in',
  group: 'Account',
  summary: 'sign a device out and have it forget you, or all of them',
  about:
    'You confirm it, or pass --yes. With --all you are signed out here as well, and the tokens of applications and your API keys end. Passkeys stay, since they are in your own devices, unless you end them too.',
  flags: {
    '--all': 'every device, including this one',
    '--keep-keys [key...]': 'with --all: API keys that do not end, by name or key; all of them without a value',
    '--end-passkeys [passkey...]': 'with --all: passkeys that end too, by name or id; all of them without a value',
  },
  examples: [
    'devices revoke "Firefox on Linux"',
    'devices revoke q0r7LxUOTgaPq3uQn1v4mA --yes',
    'devices revoke --all',
    'devices revoke --all --keep-keys "Deploy script" --end-passkeys',
  ],
  json: '{revoked:[{id,label}]}; with --all also {apiKeys,passkeys}',
  async run(context, [given], { all = false, keepKeys, endPasskeys }) {
    if (all === (given !== undefined)) throw usageError('Give a device or --all.', '`emailauth devices list` lists them.');
    if (!all && (keepKeys ?? endPasskeys) !== undefined) throw usageError('--keep-keys and --end-passkeys need --all.');
    if (all) return signOutEverywhere(context, { keepKeys, endPasskeys });
    const { terminal } = context;
    const { client } = await context.signedIn();
    const { id, label, current } = requireDevice(await client.listDevices({}), given ?? '');
    const ended = `${label}${current ? ', this device,' : ''} is signed out`;
    await requireConfirmation(terminal, `${ended} and needs an email or a passkey to sign in again. Go on?`);
    await client.signOutDevice({ id });
    if (current) await forgetOwnSignIn(context);
    terminal.result({ revoked: [{ id, label }] }, `${ended}.`);
    return EXIT.ok;
  },
};

/** Signs out on every device, and ends API keys and passkeys as the flags say. */
async function signOutEverywhere(context: Context, { keepKeys, endPasskeys = [] }: Flags): Promise<number> {
  const { terminal } = context;
  const { client } = await context.signedIn();
  const [devices, allKeys, { passkeys }] = await Promise.all([client.listDevices({}), client.listApiKeys({}), client.listPasskeys({})]);
  const keys = allKeys.filter(({ isActive }) => isActive);
  const kept = keepKeys === true ? keys : (keepKeys ?? []).map((text) => requireApiKeyAmong(keys, text));
  const endedKeys = keys.filter((key) => !kept.includes(key));
  const endedPasskeys = endPasskeys === true ? passkeys : [...new Set(endPasskeys.map((text) => requirePasskey(passkeys, text)))];
  const list = (title: string, names: string[]) => terminal.note(`${title}: ${names.length > 0 ? names.join(', ') : 'none'}.`);
  list('API keys that end', endedKeys.map(nameOfKey));
  list('API keys that stay', kept.map(nameOfKey));
  list(
    'Passkeys that end',
    endedPasskeys.map(({ name }) => name),
  );
  list(
    'Passkeys that stay',
    passkeys.filter((passkey) => !endedPasskeys.includes(passkey)).map(({ name }) => name),
  );
  const ended = 'Every device, including this one, is signed out';
  const needed = endedPasskeys.length < passkeys.length ? 'an email or a passkey' : 'an email';
  await requireConfirmation(terminal, `${ended} and needs ${needed} to sign in again. Go on?`);
  const result = await client.signOutEverywhere({
    // A key that was created meanwhile ends too.
    apiKeys: kept.length === 0 ? 'all' : endedKeys.map(({ id }) => id),
    passkeys: endPasskeys === true ? 'all' : endedPasskeys.map(({ id }) => id),
  });
  await forgetOwnSignIn(context);
  const revoked = devices.map(({ id, label }) => ({ id, label }));
  terminal.result({ revoked, apiKeys: result.apiKeys, passkeys: result.passkeys }, `${ended}.`);
  return EXIT.ok;
}

const nameOfKey = ({ name, keyId }: ApiKey) => `${name} (${keyId})`;

/** @throws CommandError passkey_not_found */
function requirePasskey(passkeys: readonly OwnPasskey[], text: string): OwnPasskey {
  return requireOne(passkeys, text, {
    noun: 'passkey',
    list: 'devices revoke --all',
    namesOf: ({ id, name }) => [id, name],
    idOf: ({ id }) => id,
  });
}

/** Removes the stored sign-in, which has ended at the service. */
async function forgetOwnSignIn({ credentials, host, signedIn }: Context): Promise<void> {
  const { caller } = await signedIn();
  if (caller.source === 'credentials') (await credentials()).remove(await host());
}

/** @throws CommandError device_not_found */
function requireDevice(devices: readonly Device[], text: string): Device {
  return requireOne(devices, text, {
    noun: 'device',
    list: 'devices list',
    namesOf: ({ id, label }) => [id, label],
    idOf: ({ id }) => id,
  });
}

type Connection = Output<'listConnections'>[number];

const connectionsList = listCommand({
  usage: 'connections list',
  group: 'Account',
  summary: 'the applications that you signed in to with this service, and what they may do',
  examples: ['connections list', "connections list --json | jq -r '.[].clientId'"],
  json: shapeOf('listConnections'),
  load: (client) => client.listConnections({}),
  columns: {
    NAME: ({ name }) => stripVTControlCharacters(name),
    HOSTS: ({ hosts }) => hosts.join(', '),
    SINCE: ({ createdAt }) => dayOf(createdAt),
    'LAST USED': ({ lastUsed }) => dayOf(lastUsed),
    'IT MAY': ({ scopes }) => scopes.map((scope) => SCOPE_DESCRIPTIONS[scope]).join(', '),
  },
  empty: 'You are not connected to any application.',
});

const connectionsRevoke: CommandSpec = {
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
    list: 'connections list',
    namesOf: ({ id, clientId, name, hosts }) => [...new Set([id, clientId, name, ...hosts])],
    idOf: ({ id }) => id,
  });
}

export const accessCommands: readonly CommandSpec[] = [
  keysList,
  keysCreate,
  keysRotate,
  keysRevoke,
  keysUsage,
  devicesList,
  devicesRevoke,
  connectionsList,
  connectionsRevoke,
];
