import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isThisMachine } from '../contract/rules.ts';
import { usageError } from './exit.ts';

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
  const { XDG_CONFIG_HOME } = env;
  // The specification says to ignore a relative path.
  return join(XDG_CONFIG_HOME?.startsWith('/') ? XDG_CONFIG_HOME : join(env.HOME || homedir(), '.config'), 'emailauth');
}

/** Returns `$XDG_STATE_HOME/emailauth`, on every system (XDG Base Directory Specification). */
export function stateDirectory(env: Environment): string {
  const { XDG_STATE_HOME } = env;
  return join(XDG_STATE_HOME?.startsWith('/') ? XDG_STATE_HOME : join(env.HOME || homedir(), '.local/state'), 'emailauth');
}

export type JsonFile<Value> = { path: string; get(key: string): Value | undefined; set(key: string, value: Value): void };

/**
 * Opens a JSON file in the configuration directory, which only its owner may read and which is written atomically.
 * @throws CommandError usage when it cannot be read or is not JSON
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
  return orUsageError(() => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const conf = new Conf<Record<string, Value>>({
      cwd: directory,
      configName: name,
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
    });
    return { path, get: (key) => orUsageError(() => conf.get(key)), set: (key, value) => orUsageError(() => conf.set(key, value)) };
  });
}
