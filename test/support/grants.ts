import { randomBytes } from 'node:crypto';
import type { Stage } from './harness.ts';

/** Stores a grant and a refresh token as the provider does, without a sign-in. @returns the ids of their rows */
export async function addGrant(
  stage: Stage,
  { email, clientId, scope = 'openid email' }: { email: string; clientId: string; scope?: string },
): Promise<{ grant: Buffer; token: Buffer }> {
  const [grant, token] = [randomBytes(32), randomBytes(32)];
  const payload = JSON.stringify({ kind: 'Grant', accountId: email, clientId, openid: { scope } });
  await stage.query(
    `insert into oidc_records (kind, id, payload, email, client_id, expires_at)
     values ('Grant', $1, $2, $3, $4, now() + interval '1 hour')`,
    [grant, payload, email, clientId],
  );
  await stage.query(
    `insert into oidc_records (kind, id, payload, email, client_id, grant_id, expires_at)
     values ('RefreshToken', $1, '{}', $2, $3, $4, now() + interval '1 hour')`,
    [token, email, clientId, grant],
  );
  return { grant, token };
}
