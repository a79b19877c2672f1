import { randomBytes } from 'node:crypto';
import { v7 as uuid } from 'uuid';
import { expect, test } from 'vitest';
import { authKeyOf } from '../../server/developers/browser.ts';
import { requireProof } from '../../server/permissions/proofs.ts';
import { BEGIN_SIGN_OUT } from '../../server/permissions/sign-outs.ts';
import { digest } from '../../server/platform/secrets.ts';
import { QuickLogins } from '../../server/signin/methods/quick-login.ts';
import { freshAddress } from '../support/sign-ins.ts';
import { freshBytes, insert, useDatabase } from './database.ts';

const database = await useDatabase();
const { core } = database;
const query = (text: string, values?: unknown[]) => core.query(text, values);
const portal = { to: 'portal', url: 'https://auth.example/developer', conditions: { maxAge: null, passkey: false } } as const;
const logins = new QuickLogins(core, { of: async () => portal });

/** Adds a remembered account, its key and a session on its device. @param changes columns of the remembered key */
async function remembered(changes: Record<string, unknown> = {}) {
  const [id, email, device, selector] = [uuid(), freshAddress(), randomBytes(32).toString('base64url'), freshBytes(16)];
  const [secret, session] = [randomBytes(32).toString('base64url'), freshBytes()];
  await insert(database, 'users', { id, email });
  await insert(database, 'sessions', { hash: session, user_id: id, device: digest(device), expires_at: "sql:now() + interval '1 day'" });
  const key = {
    selector,
    device: digest(device),
    email,
    verifier: digest(secret),
    label: '',
    expires_at: "sql:now() + interval '400 days'",
  };
  await insert(database, 'remembered_keys', { ...key, ...changes });
  const browser = { attempt: '', device, session: undefined, clientAddress: '192.0.2.1', userAgent: '' };
  return {
    account: { id, email, name: null },
    proof: { session, device: null },
    login: () => logins.login({ email, key: authKeyOf(selector, secret) } as never, browser),
  };
}

test('a remembered account signs in with its key', async () => {
  const { account, login } = await remembered();
  expect(await login()).toMatchObject({
    email: account.email,
    redirectUrl: expect.stringContaining('https://auth.example/developer?token='),
  });
});

test.each<[string, Record<string, unknown>]>([
  ['another verifier', { verifier: freshBytes() }],
  ['another device', { device: freshBytes() }],
  ['another address', { email: 'someone@mail.example' }],
  ['an end in the past', { expires_at: 'sql:now()' }],
])('a key is refused where the account has %s', async (_, changes) => {
  const { login } = await remembered(changes);
  await expect(login()).rejects.toMatchObject({ code: 'bad_key' });
});

test('a key is refused while its account is being signed out', async () => {
  const { account, login } = await remembered();
  const signOut = await core.connect();
  try {
    await signOut.query('begin');
    await signOut.query(BEGIN_SIGN_OUT, [account.email]);
    await expect(login()).rejects.toMatchObject({ code: 'bad_key' });
  } finally {
    await signOut.query('rollback');
    signOut.release();
  }
  expect(await login()).toMatchObject({ email: account.email });
});

test('a proof is one of the account itself, made lately on the device of the session', async () => {
  const { account, proof } = await remembered();
  expect(await requireProof(query, account, proof)).toEqual(expect.anything());
  await expect(requireProof(query, account, { ...proof, device: freshBytes() })).rejects.toMatchObject({ code: 'proof_needed' });
  await expect(requireProof(query, account, { ...proof, session: freshBytes() })).rejects.toMatchObject({ code: 'proof_needed' });
  await expect(requireProof(query, account, null)).rejects.toMatchObject({ code: 'proof_needed' });
});

test.each<[string, Record<string, unknown>]>([
  ['another account of the device', { email: 'someone-else@mail.example' }],
  ['a key that was voided', { verifier: Buffer.alloc(0) }],
])('%s proves nothing', async (_, changes) => {
  const { account, proof } = await remembered(changes);
  await expect(requireProof(query, account, proof)).rejects.toMatchObject({ code: 'proof_needed' });
});
