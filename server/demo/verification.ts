import { randomUUID } from 'node:crypto';

/** What the sign-in service said about a token; `unreachable` when it said nothing. */
type Verdict = { email: string } | { reason: Answer['reason'] | 'unreachable' };
type Answer = { valid: boolean; email: string; domain: string; reason: 'used' | 'expired' | 'unknown' | 'other_domain' };

const TIMEOUT_MS = 3_000;
const TRIES = 2;

/**
 * Asks the service, as the server of every site does, whom a token is for.
 * @param domain our own: a token that was made for another site is then refused
 */
export async function verifyToken(serviceUrl: string, token: string, domain: string): Promise<Verdict> {
  const url = `${serviceUrl}/api/verify-token?${new URLSearchParams({ token, domain })}`;
  // The same key at every try: were the first answer lost on its way, the second call gets it again.
  const headers = { 'Idempotency-Key': randomUUID() };
  for (let tries = 1; tries <= TRIES; tries++) {
    try {
      const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
      if (response.status >= 500) continue;
      const answer = (await response.json()) as Partial<Answer>;
      if (answer.valid === true && answer.domain === domain && answer.email) return { email: answer.email };
      return { reason: answer.reason ?? 'unknown' };
    } catch {
      // No answer: once more.
    }
  }
  return { reason: 'unreachable' };
}
