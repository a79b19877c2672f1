/** A browser may refuse its storage (private windows, blocked cookies); the pages then work without it. */

export function readStored(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key);
  } catch {
    return null;
  }
}

/** Stores `value`, or deletes the key when it is null. */
export function writeStored(storage: () => Storage, key: string, value: string | null) {
  try {
    if (value === null) storage().removeItem(key);
    else storage().setItem(key, value);
  } catch {
    // Nothing to do: see above.
  }
}

export const local = () => window.localStorage;
export const session = () => window.sessionStorage;

/** Every key that the local storage holds. */
export function localKeys(): string[] {
  try {
    return Object.keys(window.localStorage);
  } catch {
    return [];
  }
}
