import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { RecordsStore } from '../../server/oidc/store.ts';
import { useDatabase } from './database.ts';

const { core } = await useDatabase();
const store = new RecordsStore(core);

/** Adds an authorization code, its grant and a token of the grant. @param seconds until the code expires */
async function issued(seconds: number) {
  const [code, grant, token] = [randomUUID(), randomUUID(), randomUUID()];
  const columns = { email: null, clientId: null, grantId: null, uid: null, userCode: null };
  await store.upsert('Grant', grant, {}, columns, 600);
  await store.upsert('AuthorizationCode', code, {}, { ...columns, grantId: grant }, seconds);
  await store.upsert('RefreshToken', token, {}, { ...columns, grantId: grant }, 600);
  const left = async () => [(await store.find('Grant', grant)) !== null, (await store.find('RefreshToken', token)) !== null];
  return { code, left };
}

test('a code is consumed once, and a second use ends what its grant has issued', async () => {
  const { code, left } = await issued(60);
  expect([await store.consume('AuthorizationCode', code), await left()]).toEqual([true, [true, true]]);
  expect([await store.consume('AuthorizationCode', code), await left()]).toEqual([false, [false, false]]);
});

test('of 50 concurrent uses of a code one succeeds', async () => {
  const { code, left } = await issued(60);
  const uses = await Promise.all(Array.from({ length: 50 }, () => store.consume('AuthorizationCode', code)));
  expect([uses.filter(Boolean).length, await left()]).toEqual([1, [false, false]]);
});

test('a code that has expired is neither found nor consumed', async () => {
  const { code, left } = await issued(0);
  expect(await store.find('AuthorizationCode', code)).toBeNull();
  expect([await store.consume('AuthorizationCode', code), await left()]).toEqual([false, [true, true]]);
});
