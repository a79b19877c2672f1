import { chmodSync } from 'node:fs';
import { usageError } from './exit.ts';
import { openFile } from './settings.ts';

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
