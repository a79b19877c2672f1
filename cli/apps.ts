import { readFile } from 'node:fs/promises';
import type { Input, Output } from '../contract/calls.ts';
import type { Client } from '../contract/client.ts';
import { AUTHENTICATIONS } from '../contract/rules.ts';
import { APPLICATION_SCOPES } from '../contract/scopes.ts';
import type { Flags } from './command.ts';
import { EXIT, usageError } from './exit.ts';
import { requireOne } from './lists.ts';
import { dayOf, details, minuteOf, type Terminal } from './terminal.ts';

type Application = Output<'listClients'>[number];
type Settings = Omit<Input<'createClient'>, 'name' | 'redirectUris'>;

export const REDIRECT_URI =
  'where sign-ins lead to, compared exactly: https, http to localhost with any port, or a scheme of your own: a domain in reverse order such as com.example.app:/callback; up to ten';

/** The flags of `apps add` and `apps update` for the settings of a client. */
export const CLIENT_FLAGS = {
  '--auth <method>': `how it authenticates: ${AUTHENTICATIONS.join(', ')}; none by default`,
  '--jwks <file>': 'its public keys as a JSON Web Key Set, for private_key_jwt',
  '--jwks-uri <url>': 'where its public keys are, instead of --jwks',
  '--logout-uri <uri...>': 'where a logout may lead to (post_logout_redirect_uri); up to ten',
  '--backchannel-logout-uri <uri>': 'receives a logout token when a session ends',
  '--pkce': 'require PKCE again',
  '--no-pkce': 'accept sign-ins without PKCE, from a server whose software cannot send it',
  '--scopes <scope...>': `the scopes that it may request: ${APPLICATION_SCOPES.join(', ')}`,
} as const;

/** The values that two of them accept. */
export const CLIENT_CHOICES = { '--auth': AUTHENTICATIONS, '--scopes': APPLICATION_SCOPES };

/** Returns the settings that flags give; those that are not given are absent. @throws CommandError usage */
export async function settingsOf({ auth, jwks, jwksUri, logoutUri, backchannelLogoutUri, pkce, scopes }: Flags): Promise<Settings> {
  const authentication = auth as Settings['authentication'];
  if (jwks !== undefined && jwksUri !== undefined) throw usageError('--jwks and --jwks-uri exclude each other.', 'Give one of them.');
  // Keys belong to private_key_jwt alone, and one kind of them replaces the other.
  const noKeys = authentication !== undefined && authentication !== 'private_key_jwt';
  const settings: Settings = {
    authentication,
    jwks: jwks === undefined ? (jwksUri !== undefined || noKeys ? null : undefined) : await readJwks(jwks),
    jwksUri: jwksUri ?? (jwks !== undefined || noKeys ? null : undefined),
    logoutUris: logoutUri === false ? [] : logoutUri,
    backchannelLogoutUri: backchannelLogoutUri === false ? null : backchannelLogoutUri,
    pkceRequired: pkce,
    scopes: scopes as Settings['scopes'],
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

async function readJwks(file: string): Promise<NonNullable<Settings['jwks']>> {
  const hint = 'Give a file with a JSON Web Key Set: {"keys":[…]}.';
  try {
    const value = JSON.parse(await readFile(file, 'utf8'));
    if (Array.isArray(value?.keys)) return value;
  } catch (error) {
    throw usageError(`--jwks cannot be read: ${(error as Error).message}`, hint);
  }
  throw usageError(`${file} is not a JSON Web Key Set.`, hint);
}

/** Returns the application that a text names. @throws CommandError application_not_found */
export async function requireApp(client: Client, text: string): Promise<Application> {
  return requireOne(await client.listClients({}), text, {
    noun: 'application',
    list: 'apps list',
    namesOf: ({ id, clientId, name }) => [id, clientId, name],
    idOf: ({ clientId }) => clientId,
  });
}

/** Prints an application on stdout, with its client secret if the change created one. @returns the exit code */
export function printChangedApp(terminal: Terminal, app: Output<'createClient'>): number {
  const { clientSecret } = app;
  if (clientSecret) terminal.note('The client secret is shown only this once: store it now.');
  terminal.result(app, formatApp(app, terminal));
  return EXIT.ok;
}

/** Returns an application as text for people. */
export function formatApp(app: Application & { clientSecret?: string }, terminal: Terminal): string {
  const { jwks, jwksUri, backchannelLogoutUri, formerSecretUntil, clientSecret } = app;
  const rows = [
    ['client ID', app.clientId],
    ...(clientSecret ? [['client secret', clientSecret]] : []),
    ['active', app.isActive ? 'yes' : 'no: it signs no one in'],
    ['auth', describeAuthentication(app)],
    ...(formerSecretUntil ? [['', `the former secret is valid until ${minuteOf(formerSecretUntil)} UTC`]] : []),
    ...(jwksUri || jwks ? [['keys', jwksUri ?? `${jwks?.keys.length} given`]] : []),
    ...listed('redirects', app.redirectUris),
    ...listed('logouts', app.logoutUris),
    ...(backchannelLogoutUri ? [['back-channel', backchannelLogoutUri]] : []),
    ...(app.pkceRequired ? [] : [['PKCE', 'not required']]),
    ['scopes', app.scopes.join(' ')],
    ['since', dayOf(app.createdAt)],
  ];
  return details(app.name, rows, 15, terminal);
}

const listed = (term: string, uris: string[]) => uris.map((uri, i) => [i === 0 ? term : '', uri]);

function describeAuthentication({ authentication }: Application): string {
  return authentication === 'none' ? 'none: a public client' : authentication === 'secret' ? 'client secret' : authentication;
}
