import { expect, test } from 'vitest';
import type { Destination } from '../../contract/signin.ts';
import { NO_COOKIES } from '../platform/http/endpoint.ts';
import { randomSecret } from '../platform/secrets.ts';
import { StepsReader } from './pages.ts';

const asked: string[] = [];
const reader = new StepsReader({
  attempts: { newest: () => ask('attempt') },
  sessions: { signedInBy: async (sid) => (sid === undefined ? null : ask('session')) },
  accounts: { provenWithin: async () => (await ask('accounts')) ?? [] },
  passkeys: { ofPage: () => undefined },
  emailVerification: { ofPage: () => undefined },
  hasInbox: false,
});

async function ask(what: string): Promise<null> {
  asked.push(what);
  return null;
}

/** Reads the steps of a page in a browser with these cookies. @returns what the database was asked for */
async function statementsOf(destination: Destination, cookies: Record<string, string>, conditions = destination.conditions) {
  asked.length = 0;
  const page = { destination: { ...destination, conditions }, query: {}, language: 'en', hint: undefined } as const;
  await reader.read({ ...NO_COOKIES, get: (name) => cookies[name] }, page);
  return asked;
}

test('asks the database only for what the cookies of a browser may belong to', async () => {
  const conditions = { maxAge: null, passkey: false };
  const [host, website, audience] = ['shop.example', 'shop.example', 'shop.example'];
  const site: Destination = { to: 'website', url: 'https://shop.example/', host, website, audience, conditions };
  const portal: Destination = { to: 'portal', url: 'https://auth.example/developer', conditions };
  const cookies = { attempt: randomSecret(), sid: randomSecret() };
  expect(await statementsOf(site, {})).toEqual([]);
  expect(await statementsOf(site, { sid: cookies.sid, attempt: 'forged' })).toEqual([]);
  expect(await statementsOf(site, cookies)).toEqual(['attempt']);
  expect(await statementsOf(portal, {})).toEqual([]);
  expect(await statementsOf(portal, cookies)).toEqual(['attempt', 'session']);
  const remembered = JSON.stringify([{ email: 'ann@mail.example', key: '', timestamp: 1 }]);
  const known = { device: randomSecret(), remembered_accounts: remembered };
  expect(await statementsOf(site, known)).toEqual([]);
  expect(await statementsOf(site, known, { maxAge: 60, passkey: false })).toEqual(['accounts']);
  expect(await statementsOf(site, known, { maxAge: 0, passkey: false })).toEqual([]);
  expect(await statementsOf(site, known, { maxAge: 60, passkey: true })).toEqual([]);
  expect(await statementsOf(site, { device: randomSecret() }, { maxAge: 60, passkey: false })).toEqual([]);
});
