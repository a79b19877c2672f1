import { randomUUID } from 'node:crypto';
import { errors } from 'oidc-provider';
import { expect, test } from 'vitest';
import { createAdapter } from '../../server/oidc/adapter.ts';
import { RecordsStore } from '../../server/oidc/store.ts';
import { SecretKeys } from '../../server/platform/secrets.ts';
import { freshBytes, useDatabase } from './database.ts';

const { core } = await useDatabase();
let clientSince: number | undefined;
const adapterOf = createAdapter({
  store: new RecordsStore(core),
  clients: {} as never,
  secretKeys: new SecretKeys(freshBytes()),
  errors,
  currentRequest: () => undefined,
  clientSince: () => clientSince,
  deviceOf: () => undefined,
});

test.each([
  ['Interaction', { returnTo: 'https://a.example/1', session: { cookie: 'secret-1' }, deviceCode: 'secret-2', parJti: 'secret-3' }],
  ['DeviceCode', { jti: 'secret-1', userCode: 'BCDF-GHJK' }],
])('the fields of a record %s that give access to it are stored encrypted', async (kind, payload) => {
  const [id, adapter] = [randomUUID(), adapterOf(kind)];
  await adapter.upsert(id, payload as never, 60);
  const { rows } = await core.query(
    'select payload::text as stored, user_code from oidc_records where kind = $1 order by created_at desc',
    [kind],
  );
  for (const secret of ['a.example', 'secret-', 'BCDF']) expect(JSON.stringify(rows)).not.toContain(secret);
  const found = await adapter.find(id);
  for (const [name, value] of Object.entries(payload)) if (name !== 'jti') expect(found?.[name]).toEqual(value);
});

test('a code cannot be consumed again', async () => {
  const [id, adapter] = [randomUUID(), adapterOf('AuthorizationCode')];
  await adapter.upsert(id, {}, 60);
  await adapter.consume(id);
  await expect(adapter.consume(id)).rejects.toThrow(errors.InvalidGrant);
});

test('a grant of an earlier registration of its client does not exist', async () => {
  const [id, adapter] = [randomUUID(), adapterOf('Grant')];
  await adapter.upsert(id, { iat: 1000 } as never, 60);
  expect(await adapter.find(id)).toMatchObject({ iat: 1000 });
  clientSince = 1001;
  expect(await adapter.find(id)).toBeUndefined();
});
