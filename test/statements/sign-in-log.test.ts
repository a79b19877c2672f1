import { v7 as uuid } from 'uuid';
import { beforeEach, expect, test } from 'vitest';
import type { Output, Parsed } from '../../contract/calls.ts';
import { WebsiteLog } from '../../server/activity/log.ts';
import { freshAddress, freshDomain } from '../support/sign-ins.ts';
import { insert, useDatabase } from './database.ts';

type Event = Output<'websiteLog'>['events'][number];

const database = await useDatabase();
const log = new WebsiteLog({ isLocal: false, database });

let website: { id: string; domain: string; email: string };
beforeEach(async () => {
  website = { id: uuid(), domain: freshDomain(), email: freshAddress() };
  await insert(database, 'websites', { ...website, domain_since: "sql:now() - interval '9 days'", proven_at: 'sql:now()' });
});

const STEPS = ['sign_in_steps', 'audit_log'] as const;
/** Adds a row of a sign-in. */
const add = (action: string, signIn: string | null, email: string | null, more: Record<string, unknown> = {}) =>
  insert(database, STEPS[Number(/^(sign|token_v|address)/.test(action))], {
    action,
    sign_in: signIn,
    email,
    website_id: website.id,
    ...more,
  });

type Query = Partial<Parsed<'websiteLog'>>;
const read = (query: Query = {}) =>
  log.read({ email: website.email } as never, { id: website.id, by: 'sign_in', problems: 'false', ...query } as Parsed<'websiteLog'>);
/** Reads the whole log. */
async function readAll(query: Query = {}): Promise<{ signIns: Event[][]; calls: number }> {
  const events: Event[] = [];
  let calls = 0;
  for (let before: string | null | undefined; before !== null; calls += 1) {
    const page = await read({ ...query, ...(before && { before }) });
    events.push(...page.events);
    before = page.cursor;
  }
  const signIns: Event[][] = [];
  for (const event of events) {
    const last = signIns.at(-1);
    if (last && event.signIn !== null && last[0].signIn === event.signIn) last.push(event);
    else signIns.push([event]);
  }
  return { signIns, calls };
}
const kinds = (signIns: Event[][]) => signIns.map((steps) => steps.map(({ kind }) => kind));

test('concurrent sign-ins of one address have their own steps, and what belongs to none is between them', async () => {
  const [email, first, second] = [freshAddress(), uuid(), uuid()];
  await add('sign_in_requested', first, email);
  await add('sign_in_requested', second, email);
  await add('mail_accepted', second, email);
  await add('token_refused', null, null, { result: 'unknown' });
  await add('mail_accepted', first, email);
  await add('signed_in', first, email, { method: 'c' });
  await add('wrong_code', second, email);
  await add('token_verified', first, email, { method: 'c' });
  const { signIns } = await readAll();
  expect(kinds(signIns)).toEqual([
    ['token_refused'],
    ['requested', 'mail_accepted', 'wrong_code'],
    ['requested', 'mail_accepted', 'opened', 'verified'],
  ]);
  expect(signIns[2].map(({ state }) => state)).toEqual(['waiting', 'sent', 'unverified', 'signed_in']);
});

test('a sign-in is whole and once, however many begin between its steps', async () => {
  const email = freshAddress();
  const ids = Array.from({ length: 400 }, () => uuid());
  const addAll = (action: string, table: string, method: string | null = null) =>
    database.core.query(
      `insert into ${table} (action, sign_in, email, website_id, method) select $1, id, $3, $4, $5 from unnest($2::uuid[]) with ordinality as s (id, n) order by n`,
      [action, ids, email, website.id, method],
    );
  await addAll('sign_in_requested', 'audit_log');
  await addAll('mail_accepted', 'sign_in_steps');
  await addAll('signed_in', 'audit_log', 'l');
  await addAll('token_verified', 'audit_log', 'l');
  const { signIns, calls } = await readAll();
  expect(calls).toBeGreaterThan(1);
  expect(signIns.map(([{ signIn }]) => signIn)).toEqual(ids.toReversed());
  expect(kinds(signIns).every((steps) => steps.join() === 'requested,mail_accepted,opened,verified')).toBe(true);
  expect((await readAll({ state: 'signed_in' })).signIns).toHaveLength(400);
  expect((await readAll({ state: 'sent' })).signIns).toEqual([]);
});

test('sign-ins are filtered by state, method, step, address and the time of their beginning', async () => {
  const ago = (minutes: number) => ({ at: `sql:now() - interval '${minutes} minutes'` });
  const [ann, bob, eve, zoe] = ['ann@mail.example', 'bob@mail.example', 'eve@mail.example', 'zoe@mail.example'];
  const [old, opened, remembered, waiting] = [uuid(), uuid(), uuid(), uuid()];
  await add('sign_in_requested', old, ann, ago(100));
  await add('mail_accepted', old, ann, ago(100));
  await add('sign_in_requested', opened, bob, ago(40));
  await add('signed_in', opened, bob, { method: 'l', ...ago(35) });
  await add('token_refused', opened, bob, { result: 'other_domain', ...ago(34) });
  await add('signed_in', remembered, eve, { method: 'r', ...ago(5) });
  await add('token_verified', remembered, eve, { method: 'r', ...ago(4) });
  await add('sign_in_requested', waiting, zoe);
  const emails = async (query: Query) => (await readAll(query)).signIns.map(([{ email }]) => email);
  expect(await emails({})).toEqual([zoe, eve, bob, ann]);
  expect(await emails({ state: 'ended' })).toEqual([ann]);
  expect(await emails({ state: 'waiting' })).toEqual([zoe]);
  expect(await emails({ state: 'unverified' })).toEqual([bob]);
  expect(await emails({ method: 'link' })).toEqual([bob]);
  expect(await emails({ method: 'remembered' })).toEqual([eve]);
  expect(await emails({ kind: 'token_refused', reason: 'other_domain' })).toEqual([bob]);
  expect(await emails({ problems: 'true' })).toEqual([bob]);
  expect(await emails({ email: 'an' })).toEqual([ann]);
  expect(await emails({ from: new Date(Date.now() - 30 * 60_000).toISOString() })).toEqual([zoe, eve]);
  expect(kinds((await readAll({ method: 'link' })).signIns)).toEqual([['requested', 'opened', 'token_refused']]);
});
