import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { isThisMachine } from '../contract/urls.ts';
import { usageError } from './exit.ts';
import { baseDirectory, type Environment } from './installation.ts';

const DEFAULT_HOST = 'http://localhost:4400';

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
  const typed = text.toLowerCase().replace(/:\d+\/?$|\/$/, '');
  const isHere = isThisMachine(typed);
  // Without a scheme, a single word may be anything.
  const isBare = (isHere || (HOST.test(typed) && typed.includes('.'))) && /^[^/]+\/?$/.test(text);
  const address = isBare ? `${isHere ? 'http' : 'https'}://${text}` : text;
  const hint = 'Give the address of the service, such as https://auth.example.com.';
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/\\]/i.test(address) || !URL.canParse(address))
    throw usageError(`${what} is not an address: ${text}`, hint);
  const { protocol, origin, hostname, pathname, search, hash, username, password } = new URL(address);
  if (!HOST.test(hostname) && isIP(hostname.replace(/^\[|\]$/g, '')) === 0) throw usageError(`${what} is not an address: ${text}`, hint);
  if (isBare && hostname !== typed) throw usageError(`${what} is not an address: ${text}`, hint);
  if (!/^https?:$/.test(protocol) || username || password || pathname !== '/' || search || hash) {
    throw usageError(`${what} is not the address of a service: ${text}`, hint);
  }
  if (protocol === 'http:' && !isThisMachine(hostname)) {
    throw usageError(`${what} is http, which is only allowed for this machine: ${text}`, `Use https://${new URL(address).host}.`);
  }
  return origin;
}

/** Matches the name of a host (RFC 1123 §2.1). */
const HOST = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Returns `$XDG_CONFIG_HOME/emailauth`, on every system (XDG Base Directory Specification). */
export function configDirectory(env: Environment): string {
  return join(baseDirectory(env.XDG_CONFIG_HOME, env, '.config'), 'emailauth');
}

/** Returns `$XDG_STATE_HOME/emailauth`, on every system (XDG Base Directory Specification). */
export function stateDirectory(env: Environment): string {
  return join(baseDirectory(env.XDG_STATE_HOME, env, '.local/state'), 'emailauth');
}

type JsonFile<Value> = {
  path: string;
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  /** Ensures that `set` is possible, before something is done that would be lost. @throws CommandError usage */
  requireWritable(): void;
};

/**
 * Opens a JSON file in the configuration directory, which only its owner may read and which is written atomically. It is read at the
 * first `get`, and the directory is created at the first `set`: other commands also work where neither is possible.
 * @returns a file whose methods throw CommandError usage when it cannot be read or written, or is not JSON
 */
async function openFile<Value>(name: string, env: Environment): Promise<JsonFile<Value>> {
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
    requireWritable() {
      requireWritableDirectory(directory, 'XDG_CONFIG_HOME');
      orUsageError(() => {
        if (statSync(path, { throwIfNoEntry: false })) open();
      });
    },
  };
}

/**
 * Creates a directory that only its owner may read, and ensures that files can be created in it: root may write where the file system
 * is read-only. @param variable the one that names another place. @throws CommandError usage
 */
export function requireWritableDirectory(directory: string, variable: string): void {
  const probe = join(directory, `.${randomBytes(8).toString('hex')}`);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(probe, '', { flag: 'wx', mode: 0o600 });
    rmSync(probe);
  } catch (cause) {
    const hint = `Make it writable, or name another place in ${variable}.`;
    throw usageError(`The sign-in could not be stored: ${directory} cannot be written (${(cause as NodeJS.ErrnoException).code}).`, hint);
  }
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
  /**
   * Returns EMAILAUTH_TOKEN when it is set, else the stored sign-in of this host, or null.
   * @throws CommandError usage for EMAILAUTH_TOKEN that is not a token, or whose service no one named
   */
  callerAt(host: Setting): Caller | null;
  /** Returns the stored sign-in of a host, regardless of the environment. */
  storedAt(host: string): Credential | null;
  /** Returns every host with a stored sign-in. */
  hosts(): string[];
  /** Ensures that `store` is possible. @throws CommandError usage */
  requireWritable(): void;
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
      if (token) {
        requireNamed(host, 'EMAILAUTH_TOKEN');
        return { token: checkToken(token), source: 'EMAILAUTH_TOKEN' };
      }
      const stored = storedAt(host.value);
      return stored && { ...stored, source: 'credentials' };
    },
    hosts: () => Object.keys(all()),
    requireWritable: () => file.requireWritable(),
    store: (host, credential) => write({ ...all(), [host]: credential }),
    remove(host) {
      const { [host]: _, ...rest } = all();
      write(rest);
    },
  };
}

/**
 * Ensures that a person named the service to which a secret of the environment goes: any program may listen at the default one.
 * @throws CommandError usage
 */
export function requireNamed({ value, source }: Setting, secret: string): void {
  if (source !== 'default') return;
  const hint = `Name it with EMAILAUTH_HOST or --host, such as EMAILAUTH_HOST=${value} for a service on this machine.`;
  throw usageError(`${secret} is set, but not the service it is for.`, hint);
}

/** Returns the token if a header can carry it (RFC 6750 §2.1). @throws CommandError usage */
function checkToken(token: string): string {
  if (/^[\w.~+/=-]+$/.test(token)) return token;
  throw usageError(
    'EMAILAUTH_TOKEN is not a valid token.',
    'Set it to an API key from the dashboard, such as ea_live_…, and nothing else, or unset it.',
  );
}
