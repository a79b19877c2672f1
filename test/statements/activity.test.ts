import { v7 as uuid } from 'uuid';
import { expect, inject, test } from 'vitest';
import { EventStore } from '../../server/activity/event-store.ts';
import { addActivity, addSteps } from '../../server/platform/db/activity-rows.ts';
import { createDatabase } from '../support/postgres.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { freshBytes, insert, openPatientDatabase, useDatabase } from './database.ts';

const { core } = await useDatabase();
const database = await useDatabase();

async function addSite(domain = freshDomain()): Promise<{ id: string; domain: string }> {
  const id = uuid();
  await insert(database, 'websites', { id, domain });
  return { id, domain };
}

async function addApplication(): Promise<{ id: string; clientId: string }> {
  const [user, id, clientId] = [uuid(), uuid(), `app_${freshBytes(16).toString('base64url')}`];
  await insert(database, 'users', { id: user, email: freshAddress() });
  await insert(database, 'applications', { id, user_id: user, name: 'Back office', client_id: clientId, redirect_uris: [] });
  return { id, clientId };
}

const ADD = addActivity({ action: "'tested'", domain: '$1::text', clientId: '$2::text' });
/** Adds a row. @returns its website and application */
const written = async (row: { domain?: string; clientId?: string }) =>
  (await core.query(`${ADD} returning website_id as website, application_id as application`, [row.domain, row.clientId])).rows[0];

test('a row has the website of its domain, and none for a domain that is not registered', async () => {
  const { id, domain } = await addSite();
  expect(await written({ domain })).toEqual({ website: id, application: null });
  expect(await written({ domain: `shop.${domain}` })).toEqual({ website: null, application: null });
});

test('a row of a client of OpenID Connect has the website of its origin', async () => {
  const { id, domain } = await addSite();
  const deeper = await addSite(`eu.${domain}`);
  const websiteOf = async (clientId: string) => (await written({ clientId })).website;
  expect(await websiteOf(`https://${domain}`)).toBe(id);
  expect(await websiteOf(`https://shop.${domain}`)).toBe(id);
  expect(await websiteOf(`https://shop.eu.${domain}`)).toBe(deeper.id);
  for (const other of [`https://not${domain}`, `https://${domain}:8443`, `https://${domain}/path`, 'https://example', domain, ''])
    expect([other, await websiteOf(other)]).toEqual([other, null]);
  const { rows } = await core.query("select id from websites where domain = 'localhost'");
  expect(await websiteOf('http://localhost:5173')).toBe(rows[0]?.id ?? null);
});

test('a row of an application has its id, and none after its end', async () => {
  const { id, clientId } = await addApplication();
  expect(await written({ clientId })).toEqual({ website: null, application: id });
  await core.query('delete from applications where id = $1', [id]);
  expect(await written({ clientId })).toEqual({ website: null, application: null });
});

test('a statement that deletes a website gives its id to the row', async () => {
  const { id, domain } = await addSite();
  const row = addActivity({ action: "'tested'", domain: 'domain', websiteId: 'id' }, 'gone');
  const text = `with gone as (delete from websites where domain = $1 returning id, domain) ${row} returning website_id`;
  expect((await core.query(text, [domain])).rows).toEqual([{ website_id: id }]);
});

test('a step has a website or an application, and is left out for others', async () => {
  const [site, application] = [await addSite(), await addApplication()];
  const text = addSteps({ action: "'tested'", subject: 'subject' }, 'unnest($1::text[]) subject');
  const subjects = [site.domain, application.clientId, freshDomain(), 'app_unknown', null];
  const { rows } = await core.query(`${text} returning domain, client_id, website_id, application_id`, [subjects]);
  expect(rows).toEqual([
    { domain: site.domain, client_id: null, website_id: site.id, application_id: null },
    { domain: null, client_id: application.clientId, website_id: null, application_id: application.id },
  ]);
});

test('the rows of both tables have numbers of one order', async () => {
  const { domain } = await addSite();
  const step = addSteps({ action: "'step'", subject: 'subject' }, 'unnest($1::text[]) subject');
  for (const action of ['first', 'third']) {
    await core.query(addActivity({ action: `'${action}'`, domain: '$1::text' }), [domain]);
    await core.query(step, [[domain]]);
  }
  const { rows } = await core.query('select action from activity_log where domain = $1 order by id', [domain]);
  expect(rows.map(({ action }) => action)).toEqual(['first', 'step', 'third', 'step']);
});

test('the number before the rows of the last seconds is found in both tables', async ({ onTestFinished: atEnd }) => {
  // A database of its own, because the times of its rows rise with their numbers.
  const own = openPatientDatabase(await createDatabase(inject('clusterUrl'), inject('templateUrl')));
  atEnd(() => own.close());
  const add = (table: string, minutesAgo: number) =>
    own.core.query(`insert into ${table} (at, action) values (now() - make_interval(mins => $1), 'tested') returning id::integer`, [
      minutesAgo,
    ]);
  const ids: number[] = [];
  for (const [table, minutesAgo] of [
    ['audit_log', 90],
    ['sign_in_steps', 60],
    ['sign_in_steps', 30],
    ['audit_log', 0],
  ] as const)
    ids.push((await add(table, minutesAgo)).rows[0].id);
  const store = new EventStore(own.core);
  const startsOf = (minutes: number[]) => Promise.all(minutes.map((each) => store.startOf(each * 60)));
  expect(await startsOf([120, 75, 45, 15, 0])).toEqual([ids[0] - 1, ids[0], ids[1], ids[2], ids[3]]);
  expect(await store.newest()).toBe(ids[3]);
});
