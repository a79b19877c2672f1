import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { RecordsStore } from '../../server/oidc/store.ts';
import { freshBytes, useDatabase } from './database.ts';

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

const NOBODY = { email: null, clientId: null, grantId: null, uid: null, userCode: null };

/** Counts the statements that some work runs. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(core, 'query');
  await work();
  const count = spy.mock.calls.length;
  spy.mockRestore();
  return count;
}

test('what a request changes is stored in one statement, in the order in which it changed', async () => {
  const [kept, replaced, destroyed] = [randomUUID(), randomUUID(), randomUUID()];
  await store.upsert('Interaction', destroyed, {}, NOBODY, 600);
  const change = async () => {
    await store.destroy('Interaction', destroyed);
    await store.upsert('Grant', kept, {}, NOBODY, 600);
    await store.upsert('Session', replaced, { n: 1 }, NOBODY, 600);
    await store.upsert('Session', replaced, { n: 2 }, NOBODY, 600);
  };
  expect(await statementsOf(() => store.inRequest(change))).toBe(1);
  expect(await store.find('Interaction', destroyed)).toBeNull();
  expect(await store.find('Grant', kept)).not.toBeNull();
  expect(await store.find('Session', replaced)).toMatchObject({ payload: { n: 2 } });
});

test('a request that fails stores nothing, except that a proof was used', async () => {
  const [grant, proof] = [randomUUID(), randomUUID()];
  const failing = store.inRequest(async () => {
    await store.upsert('Grant', grant, {}, NOBODY, 600);
    await store.upsert('ReplayDetection', proof, {}, NOBODY, 600);
    throw new Error('failed');
  });
  await expect(failing).rejects.toThrow('failed');
  expect(await store.find('Grant', grant)).toBeNull();
  expect(await store.find('ReplayDetection', proof)).not.toBeNull();
});

test('a request reads a token, its grant and its session in one statement, and what it has changed', async () => {
  const [token, grant, uid] = [randomUUID(), randomUUID(), randomUUID()];
  await store.upsert('Grant', grant, { n: 1 }, NOBODY, 600);
  await store.upsert('Session', randomUUID(), { n: 2 }, { ...NOBODY, uid }, 600);
  await store.upsert('AccessToken', token, { grantId: grant, sessionUid: uid }, { ...NOBODY, grantId: grant }, 600);
  await store.inRequest(async () => {
    const read = async () => {
      expect(await store.find('AccessToken', token)).toMatchObject({ payload: { grantId: grant } });
      expect(await store.find('Grant', grant)).toMatchObject({ payload: { n: 1 } });
      expect(await store.find('Session', uid, 'uid')).toMatchObject({ payload: { n: 2 } });
    };
    expect(await statementsOf(read)).toBe(1);
    await store.upsert('Grant', grant, { n: 3 }, NOBODY, 600);
    expect(await store.find('Grant', grant)).toMatchObject({ payload: { n: 3 } });
    await store.consume('AccessToken', token);
    expect(await store.find('AccessToken', token)).toMatchObject({ consumed: expect.any(Number) });
  });
});

test.each([
  ['a browser that remembers the account', true],
  ['no such browser', false],
])('a grant, a session and a code that come together are stored for %s', async (_, isRemembered) => {
  const [email, grant, session, code] = [`${randomUUID()}@mail.example`, randomUUID(), randomUUID(), randomUUID()];
  const device = freshBytes();
  if (isRemembered)
    await core.query(
      `insert into remembered_keys (selector, device, email, verifier, expires_at) values ($1, $1, $2, 'x', now() + interval '1 day')`,
      [device, email],
    );
  await store.inRequest(async () => {
    await store.upsert('AuthorizationCode', code, {}, { ...NOBODY, email, grantId: grant }, 60);
    await store.upsert('Grant', grant, {}, { ...NOBODY, email }, 600);
    await store.upsert('Session', session, {}, { ...NOBODY, email, device }, 600);
  });
  const stored = await Promise.all([store.find('Grant', grant), store.find('Session', session), store.find('AuthorizationCode', code)]);
  expect(stored.map((record) => record !== null)).toEqual([isRemembered, isRemembered, isRemembered]);
});

test('an exchange is recorded in the statement that stores its token', async () => {
  const [clientId, email, token] = [`app_${randomUUID()}`, `${randomUUID()}@mail.example`, randomUUID()];
  const exchange = async () => {
    store.addExchange({ clientId, email });
    await store.upsert('AccessToken', token, {}, NOBODY, 60);
  };
  expect(await statementsOf(() => store.inRequest(exchange))).toBe(1);
  expect(await store.find('AccessToken', token)).not.toBeNull();
  const { rows } = await core.query('select action from audit_log where email = $1', [email]);
  expect(rows).toEqual([{ action: 'code_exchanged' }]);
});
