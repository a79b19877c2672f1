import { local, readStored, writeStored } from './storage.ts';

/** A request for a mail that the limits of its mailbox refused. `back`: path of the page where the person asked. */
export type Refusal = { email: string; back: string };

const STORED = 'refusal';
const LIFE_MS = 3_600_000;

/** Keeps a refusal for an hour, for the tab in which a mailed link opens. */
export function keepRefusal(email: string) {
  writeStored(local, STORED, JSON.stringify({ email, back: location.pathname + location.search, until: Date.now() + LIFE_MS }));
}

export function dropRefusal() {
  writeStored(local, STORED, null);
}

/** Returns the refusal of the last hour in this browser, or null. */
export function recallRefusal(): Refusal | null {
  try {
    const { email, back, until } = JSON.parse(readStored(local, STORED) ?? 'null');
    return until > Date.now() && typeof email === 'string' && typeof back === 'string' ? { email, back } : null;
  } catch {
    return null;
  }
}
