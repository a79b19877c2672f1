import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { Sessions } from '../../server/developers/sessions.ts';
import { digest, randomSecret } from '../../server/platform/secrets.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { freshBytes, insert, useDatabase } from './database.ts';

const database = await useDatabase();
const sessions = new Sessions(database.core);

/** Adds a session of a new account. @param changes columns of the session */
async function session(changes: Record<string, unknown> = {}) {
  const [id, secret, email] = [uuid(), randomSecret(), freshAddress()];
  await insert(database, 'users', { id, email });
  await insert(database, 'sessions', {
    hash: digest(secret),
    user_id: id,
    device: freshBytes(),
    expires_at: "sql:now() + interval '1 day'",
    ...changes,
  });
  return { secret, email };
}

test('a session is that of its account', async () => {
  const { secret, email } = await session();
  expect(await sessions.accountOf(secret)).toMatchObject({ email, clientId: null });
  expect(await sessions.accountOf(randomSecret())).toBeNull();
});

test.each<[string, Record<string, unknown>]>([
  ['has expired', { expires_at: 'sql:now()' }],
  ['was not used for 7 days', { seen_at: "sql:now() - interval '7 days'" }],
  ['is of an application that does not exist', { client_id: 'unknown' }],
])('a session that %s identifies nobody', async (_, changes) => {
  const { secret } = await session(changes);
  expect(await sessions.accountOf(secret)).toBeNull();
});
