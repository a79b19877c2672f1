import { chmodSync } from 'node:fs';
import { usageError } from './exit.ts';
import { openFile } from './settings.ts';

/** A sign-in of `emailauth login` at one service. */
export type Credential = {
  email: string;
  /** Opens everything that the person may do: never shown but by `emailauth token`. */
  token: string;
  /** ISO 8601. The service may end it sooner. */
  expiresAt: string;
};

/** Who a call is made as. */
export type Caller = { token: string; source: 'EMAILAUTH_TOKEN' } | (Credential & { source: 'credentials' });

export type Credentials = {
  /** The file that they lie in. */
  path: string;
  /** EMAILAUTH_TOKEN when it is set, else the stored sign-in of this host; null: nobody. @throws CommandError usage */
  callerAt(host: string): Caller | null;
  /** The stored sign-in of a host, whatever the environment says. */
  storedAt(host: string): Credential | null;
  /** Every host that has one. */
  hosts(): string[];
  keep(host: string, credential: Credential): void;
  forget(host: string): void;
};

/** The credentials of a profile, by host, in credentials.json (mode 600). */
export async function openCredentials(profile: string, env: Record<string, string | undefined>): Promise<Credentials> {
  const file = await openFile<Record<string, Credential>>('credentials', env);
  const all = () => file.get(profile) ?? {};
  const write = (byHost: Record<string, Credential>) => {
    file.set(profile, byHost);
    // It may have been there before, with a wider mode.
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
    keep: (host, credential) => write({ ...all(), [host]: credential }),
    forget(host) {
      const { [host]: _, ...rest } = all();
      write(rest);
    },
  };
}

/** What can stand in a header (RFC 6750 §2.1). */
function checkToken(token: string): string {
  if (/^[\w.~+/=-]+$/.test(token)) return token;
  throw usageError('EMAILAUTH_TOKEN holds no token.', 'Set it to an API key of the dashboard alone, such as ea_live_…, or unset it.');
}
