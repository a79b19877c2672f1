import { local, readStored, writeStored } from '../../lib/storage.ts';

/** A request for an email that the limit of its mailbox refused. `back`: path of the page that requested it. */
export type Refusal = { email: string; back: string };

const STORED = 'refusal';
const EXPIRY_MS = 3_600_000;

/** Stores a refusal for an hour, for the tab in which a mailed link opens. */
export function storeRefusal(email: string) {
  writeStored(local, STORED, JSON.stringify({ email, back: location.pathname + location.search, until: Date.now() + EXPIRY_MS }));
}

export function deleteRefusal() {
  writeStored(local, STORED, null);
}

/** Returns the refusal of the last hour in this browser, or null. */
export function readRefusal(): Refusal | null {
  try {
    const { email, back, until } = JSON.parse(readStored(local, STORED) ?? 'null');
    return until > Date.now() && typeof email === 'string' && typeof back === 'string' ? { email, back } : null;
  } catch {
    return null;
  }
}
