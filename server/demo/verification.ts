import { randomUUID } from 'node:crypto';

/** The result of a verification; `unreachable` when the service did not respond. */
type Result = { email: string } | { reason: Response['reason'] | 'unreachable' };
type Response = { valid: boolean; email: string; domain: string; reason: 'used' | 'expired' | 'unknown' | 'other_domain' };

const TIMEOUT_MS = 3_000;
const MAX_TRIES = 2;

/**
 * Verifies a token with the service, as the server of every website does.
 * @param domain of this website; a token for another website is refused
 */
export async function verifyToken(serviceUrl: string, token: string, domain: string): Promise<Result> {
  const url = `${serviceUrl}/api/verify-token?${new URLSearchParams({ token, domain })}`;
  // The same key at every try: if the first response is lost, the second call returns it again.
  const headers = { 'Idempotency-Key': randomUUID() };
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    try {
      const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.status >= 500) continue;
      const body = (await response.json()) as Partial<Response>;
      if (body.valid === true && body.domain === domain && body.email) return { email: body.email };
      return { reason: body.reason ?? 'unknown' };
    } catch {
      // No response: try again.
    }
  }
  return { reason: 'unreachable' };
}
