import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { usageError } from './exit.ts';

type Environment = Record<string, string | undefined>;

const DEFAULT_HOST = 'http://localhost:3000';

/** What `config set` takes. */
export const CONFIG_KEYS = {
  host: 'the service that commands speak to, such as https://auth.example.com',
  language: 'of the mails that `login` asks for: en, lv, lt, uk or ru',
} as const;
export type ConfigKey = keyof typeof CONFIG_KEYS;

/** Where a setting's value is from. */
type Setting = { value: string; source: 'flag' | 'environment' | 'config' | 'default' };

export type Settings = {
  /** Name of the set of settings and credentials in use. */
  profile: string;
  /** Origin of the service, without a trailing slash. */
  host(): Promise<Setting>;
  get(key: ConfigKey): Promise<string | undefined>;
  set(key: ConfigKey, value: string | undefined): Promise<void>;
};

/**
 * The settings of a profile: flags come first, then the environment (EMAILAUTH_HOST, EMAILAUTH_PROFILE), then config.json.
 * @throws CommandError usage for a name or address that cannot be
 */
export function openSettings(flags: { host?: string; profile?: string }, env: Environment): Settings {
  const profile = flags.profile || env.EMAILAUTH_PROFILE || 'default';
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/i.test(profile)) {
    throw usageError(`"${profile}" is no name for a profile.`, 'Use up to 32 letters, digits, - and _.');
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
 * The origin of a service as somebody types it: https unless said otherwise, http for this machine alone, because whoever
 * listens on the way could take the credentials.
 * @param what the setting that it is from, for the error
 * @throws CommandError usage
 */
export function originOf(text: string, what: string): string {
  const isLoopback = (host: string) => /^(?:localhost|[a-z0-9-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(host);
  const bare = /^(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?\/?$/i.test(text);
  const scheme = isLoopback(text.toLowerCase().replace(/:\d+\/?$|\/$/, '')) ? 'http' : 'https';
  const address = bare ? `${scheme}://${text}` : text;
  const hint = 'Give the address of the service, such as https://auth.example.com.';
  if (!URL.canParse(address)) throw usageError(`${what} is not an address: ${text}`, hint);
  const { protocol, origin, hostname, pathname, search, hash, username } = new URL(address);
  if (!/^https?:$/.test(protocol) || username || pathname !== '/' || search || hash) {
    throw usageError(`${what} is not the address of a service: ${text}`, hint);
  }
  if (protocol === 'http:' && !isLoopback(hostname)) {
    throw usageError(`${what} is http, which is allowed for this machine alone: ${text}`, `Use https://${new URL(address).host}.`);
  }
  return origin;
}

/** `$XDG_CONFIG_HOME/emailauth`, on every system (XDG Base Directory Specification). */
export function configDirectory(env: Environment): string {
  const { XDG_CONFIG_HOME } = env;
  // The specification says to ignore a relative path.
  return join(XDG_CONFIG_HOME?.startsWith('/') ? XDG_CONFIG_HOME : join(env.HOME || homedir(), '.config'), 'emailauth');
}

export type JsonFile<Value> = { path: string; get(key: string): Value | undefined; set(key: string, value: Value): void };

/**
 * A file of ours in the configuration directory: only its owner may read it, and it is written whole or not at all.
 * @throws CommandError usage when it cannot be read or is no JSON
 */
export async function openFile<Value>(name: string, env: Environment): Promise<JsonFile<Value>> {
  const { default: Conf } = await import('conf');
  const directory = configDirectory(env);
  const path = join(directory, `${name}.json`);
  const orUnusable = <Result>(act: () => Result): Result => {
    try {
      return act();
    } catch (cause) {
      throw usageError(`${path} cannot be used: ${(cause as Error).message}`, 'Correct it, or delete it and begin anew.');
    }
  };
  return orUnusable(() => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const conf = new Conf<Record<string, Value>>({
      cwd: directory,
      configName: name,
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
      clearInvalidConfig: false,
    });
    return { path, get: (key) => orUnusable(() => conf.get(key)), set: (key, value) => orUnusable(() => conf.set(key, value)) };
  });
}
