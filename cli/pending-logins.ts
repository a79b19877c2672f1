import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SavedAttempt } from './attempts.ts';
import { stateDirectory } from './settings.ts';

/** A sign-in that `login --start` began, with the verifiers that redeem its code. */
export type PendingLogin = {
  host: string;
  profile: string;
  email: string;
  redirectUri: string;
  attempts: readonly SavedAttempt[];
  /** Whether the service was named by `--host`, and becomes that of the profile. */
  isHostFromFlag: boolean;
};

const ID = /^[\w-]{22}$/;

/** The pending logins of this machine: one file each, which only its owner may read, until it is used or expires. */
export class PendingLogins {
  readonly #directory: string;

  constructor(env: Record<string, string | undefined>) {
    this.#directory = join(stateDirectory(env), 'logins');
  }

  /** Stores a login, and removes those that have expired. @returns its id */
  add(login: PendingLogin): string {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    for (const file of readdirSync(this.#directory)) this.find(file.replace(/\.json$/, ''));
    const id = randomBytes(16).toString('base64url');
    this.save(id, login);
    return id;
  }

  /** Writes a login atomically. */
  save(id: string, login: PendingLogin): void {
    const temporary = `${this.#pathOf(id)}.${randomBytes(6).toString('hex')}`;
    writeFileSync(temporary, JSON.stringify(login), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, this.#pathOf(id));
  }

  /** Returns a login; null when it is unknown, was used or has expired. */
  find(id: string): PendingLogin | null {
    if (!ID.test(id)) return null;
    try {
      const login = JSON.parse(readFileSync(this.#pathOf(id), 'utf8')) as PendingLogin;
      if (login.attempts.some(({ expiresAt }) => expiresAt > Date.now())) return login;
    } catch (error) {
      if (isMissing(error)) return null;
      // Not JSON: the file was damaged, and is of no use.
    }
    rmSync(this.#pathOf(id), { force: true });
    return null;
  }

  /** Removes a login so that it can be used once. @returns whether this call removed it */
  take(id: string): boolean {
    try {
      unlinkSync(this.#pathOf(id));
      return true;
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
  }

  #pathOf(id: string): string {
    return join(this.#directory, `${id}.json`);
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';
