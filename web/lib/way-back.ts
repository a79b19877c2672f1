import { ATTEMPT_SECONDS } from '../../contract/limits.ts';
import { paths, safePath } from '../paths.ts';
import { local, readStored, writeStored } from './storage.ts';

const KEY = 'wayBack';

/**
 * Stores the page to return to after the sign-in, which always ends at the home page of the portal. In the local storage, since a
 * mailed link opens in a new tab, and for as long as that link is valid.
 */
export const storeWayBack = (path: string) =>
  writeStored(local, KEY, JSON.stringify({ path, expiresAt: Date.now() + ATTEMPT_SECONDS * 1000 }));

/** Returns the stored page, once; null when there is none. */
export function takeWayBack(): string | null {
  const stored = readStored(local, KEY);
  writeStored(local, KEY, null);
  try {
    const { path, expiresAt } = JSON.parse(stored ?? 'null');
    return expiresAt > Date.now() ? safePath(location.origin + path, paths.developer) : null;
  } catch {
    return null;
  }
}
