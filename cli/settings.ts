import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isThisMachine } from '../contract/rules.ts';
import { usageError } from './exit.ts';
import { baseDirectory } from './installation.ts';

type Environment = Record<string, string | undefined>;

const DEFAULT_HOST = 'http://localhost:3000';

/** What `config set` takes. */
export const CONFIG_KEYS = {
  host: 'the service that commands use, such as https://auth.example.com',
  language: 'of the emails that `login` requests: en, lv, lt, uk or ru',
} as const;
export type ConfigKey = keyof typeof CONFIG_KEYS;

/** A setting's value, and where it comes from. */
type Setting = { value: string; source: 'flag' | 'environment' | 'config' | 'default' };

export type Settings = {
  /** The name under which these settings and credentials are stored. */
  profile: string;
  /** Origin of the service, without a trailing slash. */
  host(): Promise<Setting>;
  get(key: ConfigKey): Promise<string | undefined>;
  set(key: ConfigKey, value: string | undefined): Promise<void>;
};

/**
 * Opens the settings of a profile: flags come first, then the environment (EMAILAUTH_HOST, EMAILAUTH_PROFILE), then config.json.
 * @throws CommandError usage for a profile name or address that is not valid
 */
export function openSettings(flags: { host?: string; profile?: string }, env: Environment): Settings {
  const profile = flags.profile || env.EMAILAUTH_PROFILE || 'default';
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/i.test(profile)) {
    throw usageError(`"${profile}" is not a valid profile name.`, 'Use up to 32 letters, digits, - and _.');
  }
  const values = async () => (await openFile<Partial<Record<ConfigKey, string>>>('config', env)).get(profile) ?? {};
  const get = async (key: ConfigKey) => (await values())[key];
  return {
    profile,
    async host() {
      if (flags.host) return { value: originOf(flags.host, '--host'), source: 'flag' };
      if (env.EMAILAUTH_HOST) return { value: originOf(env.EMAILAUTH_HOST, 'EMAILAUTH_HOST'), source: 'environment' };
      const host = await get('host');
      return host ? { value: originOf(host, 'The configured host'), source: 'config' } : { value: DEFAULT_HOST, source: 'default' };
    },
    get,
    async set(key, value) {
      const file = await openFile<Partial<Record<ConfigKey, string>>>('config', env);
      file.set(profile, { ...(await values()), [key]: value });
    },
  };
}

/**
 * Returns the origin of a service that a person typed: https by default, and http only for this machine, because the credentials
 * could be read in transit.
 * @param what the name of the setting, for the error
 * @throws CommandError usage
 */
export function originOf(text: string, what: string): string {
  const bare = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?\/?$/i.test(text);
  const scheme = isThisMachine(text.toLowerCase().replace(/:\d+\/?$|\/$/, '')) ? 'http' : 'https';
  const address = bare ? `${scheme}://${text}` : text;
  const hint = 'Give the address of the service, such as https://auth.example.com.';
  if (!URL.canParse(address)) throw usageError(`${what} is not an address: ${text}`, hint);
  const { protocol, origin, hostname, pathname, search, hash, username } = new URL(address);
  if (!/^https?:$/.test(protocol) || username || pathname !== '/' || search || hash) {
    throw usageError(`${what} is not the address of a service: ${text}`, hint);
  }
  if (protocol === 'http:' && !isThisMachine(hostname)) {
    throw usageError(`${what} is http, which is only allowed for this machine: ${text}`, `Use https://${new URL(address).host}.`);
  }
  return origin;
}

/** Returns `$XDG_CONFIG_HOME/emailauth`, on every system (XDG Base Directory Specification). */
export function configDirectory(env: Environment): string {
  return join(baseDirectory(env.XDG_CONFIG_HOME, env, '.config'), 'emailauth');
}

/** Returns `$XDG_STATE_HOME/emailauth`, on every system (XDG Base Directory Specification). */
export function stateDirectory(env: Environment): string {
  return join(baseDirectory(env.XDG_STATE_HOME, env, '.local/state'), 'emailauth');
}

export type JsonFile<Value> = { path: string; get(key: string): Value | undefined; set(key: string, value: Value): void };

/**
 * Opens a JSON file in the configuration directory, which only its owner may read and which is written atomically. It is read at the
 * first `get`, and the directory is created at the first `set`: other commands also work where neither is possible.
 * @returns a file whose methods throw CommandError usage when it cannot be read or written, or is not JSON
 */
export async function openFile<Value>(name: string, env: Environment): Promise<JsonFile<Value>> {
  const { default: Conf } = await import('conf');
  const directory = configDirectory(env);
  const path = join(directory, `${name}.json`);
  const orUsageError = <Result>(action: () => Result): Result => {
    try {
      return action();
    } catch (cause) {
      throw usageError(`${path} cannot be used: ${(cause as Error).message}`, 'Correct it, or delete it and start over.');
    }
  };
  let opened: InstanceType<typeof Conf<Record<string, Value>>> | undefined;
  const open = () => {
    opened ??= new Conf<Record<string, Value>>({
      cwd: directory,
      configName: name,
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
    });
    return opened;
  };
  return {
    path,
    // Conf creates the directory of a file that does not exist.
    get: (key) => orUsageError(() => (statSync(path, { throwIfNoEntry: false }) ? open().get(key) : undefined)),
    set(key, value) {
      orUsageError(() => {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        open().set(key, value);
      });
    },
  };
}

/** A sign-in by `emailauth login` at one service. */
export type Credential = {
  email: string;
  /** Gives access to everything in the account; only `emailauth token` prints it. */
  token: string;
  /** ISO 8601. The service may end it earlier. */
  expiresAt: string;
};

/** The credentials of a call. */
export type Caller = { token: string; source: 'EMAILAUTH_TOKEN' } | (Credential & { source: 'credentials' });

export type Credentials = {
  /** The file that stores them. */
  path: string;
  /** Returns EMAILAUTH_TOKEN when it is set, else the stored sign-in of this host, or null. @throws CommandError usage */
  callerAt(host: string): Caller | null;
  /** Returns the stored sign-in of a host, regardless of the environment. */
  storedAt(host: string): Credential | null;
  /** Returns every host with a stored sign-in. */
  hosts(): string[];
  store(host: string, credential: Credential): void;
  remove(host: string): void;
};

/** Opens the credentials of a profile, by host, in credentials.json (mode 600). */
export async function openCredentials(profile: string, env: Record<string, string | undefined>): Promise<Credentials> {
  const file = await openFile<Record<string, Credential>>('credentials', env);
  const all = () => file.get(profile) ?? {};
  const write = (byHost: Record<string, Credential>) => {
    file.set(profile, byHost);
    // An older file may have a wider mode.
    chmodSync(file.path, 0o600);
  };
  const storedAt = (host: string) => all()[host] ?? null;
  return {
    path: file.path,
    storedAt,
    callerAt(host) {
      const token = env.EMAILAUTH_TOKEN?.trim();
      if (token) return { token: checkToken(token), source: 'EMAILAUTH_TOKEN' };
      const stored = storedAt(host);
      return stored && { ...stored, source: 'credentials' };
    },
    hosts: () => Object.keys(all()),
    store: (host, credential) => write({ ...all(), [host]: credential }),
    remove(host) {
      const { [host]: _, ...rest } = all();
      write(rest);
    },
  };
}

/** Returns the token if a header can carry it (RFC 6750 §2.1). @throws CommandError usage */
function checkToken(token: string): string {
  if (/^[\w.~+/=-]+$/.test(token)) return token;
  throw usageError(
    'EMAILAUTH_TOKEN is not a valid token.',
    'Set it to an API key from the dashboard, such as ea_live_…, and nothing else, or unset it.',
  );
}
