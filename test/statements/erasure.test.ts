import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { v7 as uuid } from 'uuid';
import { expect, inject, onTestFinished, test } from 'vitest';
import { errors } from '../../contract/errors.ts';
import { eraseAddress } from '../../server/operations/operator-store.ts';
import { createDatabase, query } from '../support/postgres.ts';
import { freshAddress } from '../support/sign-ins.ts';

test('an address is not erased by a role that does not own the audit log, which is told the command', async () => {
  const url = await createDatabase(inject('clusterUrl'), inject('templateUrl'));
  const role = `limited_${randomBytes(5).toString('hex')}`;
  await query(url, `create role ${role} login password 'password'; grant all on all tables in schema public to ${role}`);
  const email = freshAddress();
  await query(url, 'insert into users (id, email) values ($1, $2)', [uuid(), email]);
  const client = new pg.Client(Object.assign(new URL(url), { username: role, password: 'password' }).href);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await query(url, `drop owned by ${role}; drop role ${role}`);
  });
  const erasure = { address: email, deleted: [], heir: null };
  expect(await eraseAddress(client, erasure, { dryRun: true })).toMatchObject({ users: 1 });
  await expect(eraseAddress(client, erasure, { dryRun: false })).rejects.toMatchObject({ code: 'not_table_owner' });
  expect(await query(url, 'select email from users where email = $1', [email])).toEqual([{ email }]);
  expect(errors.not_table_owner.hint).toContain('emailauth db erase');
});
