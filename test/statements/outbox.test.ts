import { v7 as uuid } from 'uuid';
import { expect, inject, onTestFinished, test } from 'vitest';
import { OutboxStore } from '../../server/mail/store.ts';
import { openDatabase } from '../../server/platform/db/database.ts';
import { createDatabase } from '../support/postgres.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { insert } from './database.ts';

test('the removal of a sent email does not wait for the disk, and what its connection commits next does', async () => {
  // One connection: all statements below share it.
  const database = openDatabase(await createDatabase(inject('clusterUrl'), inject('templateUrl')), { poolSize: 1, waitMs: 60_000 });
  onTestFinished(() => database.close());
  const { core } = database;
  const id = uuid();
  const [now, later] = ['sql:now()', "sql:now() + interval '1 hour'"];
  await insert(database, 'outbox', { id, kind: 'sign_in', recipient: freshAddress(), language: 'en', due_at: now, expires_at: later });
  const commitWaits = async () => (await core.query('show synchronous_commit')).rows[0].synchronous_commit;

  await core.query('begin');
  await new OutboxStore(core, 1).remove({ id, refusal: null });
  expect(await commitWaits()).toBe('off');
  await core.query('commit');

  expect(await commitWaits()).toBe('on');
  expect((await core.query('select from outbox')).rowCount).toBe(0);
});
