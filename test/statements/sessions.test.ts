import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { SessionStore } from '../../server/developers/sessions.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { freshBytes, insert, useDatabase } from './database.ts';

const database = await useDatabase();
const store = new SessionStore(database.core);

/** Adds a session of a new account. @param changes columns of the session */
async function session(changes: Record<string, unknown> = {}) {
  const [id, hash, email] = [uuid(), freshBytes(), freshAddress()];
  await insert(database, 'users', { id, email });
  await insert(database, 'sessions', { hash, user_id: id, device: freshBytes(), expires_at: "sql:now() + interval '1 day'", ...changes });
  return { hash, email };
}

test('a session is that of its account', async () => {
  const { hash, email } = await session();
  expect(await store.user(hash)).toMatchObject({ email, clientId: null });
  expect(await store.user(freshBytes())).toBeNull();
});

test.each<[string, Record<string, unknown>]>([
  ['has expired', { expires_at: 'sql:now()' }],
  ['was not used for 7 days', { seen_at: "sql:now() - interval '7 days'" }],
  ['is of an application that does not exist', { client_id: 'unknown' }],
])('a session that %s identifies nobody', async (_, changes) => {
  const { hash } = await session(changes);
  expect(await store.user(hash)).toBeNull();
});
