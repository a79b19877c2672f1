import type { ClientKind } from '../../contract/account.ts';

const APPLICATION = /^app_[A-Za-z0-9_-]{22}$/;
const REGISTERED = /^dcr_[A-Za-z0-9_-]{22}$/;
const MAX_LENGTH = 2048;

/** Returns what kind of client a client_id names, by its form alone; null for a text that no client can have. */
export function clientKindOf(clientId: string): ClientKind | null {
  if (APPLICATION.test(clientId)) return 'application';
  if (REGISTERED.test(clientId)) return 'registered';
  if (clientId.length > MAX_LENGTH || !/^https?:/.test(clientId) || !URL.canParse(clientId)) return null;
  const url = new URL(clientId);
  if (url.origin === clientId) return 'website';
  return url.protocol === 'https:' && url.pathname !== '/' ? 'metadata_document' : null;
}
