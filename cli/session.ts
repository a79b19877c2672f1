import { openApi } from './api.ts';
import type { Context } from './context.ts';
import type { Credential } from './credentials.ts';

/** Nobody wants to wait long to be signed out. */
const TIMEOUT_MS = 10_000;

/** Ends a stored sign-in at its service. @returns whether the service said so */
export async function endSession({ terminal, signal }: Context, host: string, credential: Credential): Promise<boolean> {
  try {
    const client = openApi({ host, caller: { ...credential, source: 'credentials' }, terminal, signal });
    await client.logout({}, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  }
}
