import { expect, test } from 'vitest';
import {
  checkPublicName,
  type DatabaseFacts,
  evaluateBackup,
  evaluateDatabase,
  evaluateDatabaseClock,
  evaluateDisk,
  evaluateProxy,
  evaluateReplication,
} from './deployment.ts';
import { openDns } from './dns.ts';

const facts: Extract<DatabaseFacts, { problem: null }> = {
  place: 'db.example/emailauth',
  problem: null,
  version: 17,
  readOnly: null,
  pooling: 'session',
  keepsPreparedStatements: null,
  hasTimeSettings: true,
  identity: '1 2',
  clockAheadSeconds: 0.4,
  connections: { max: 100, used: 20 },
  standbys: [],
};

test('a database needs the version and the connections of the service', () => {
  const limits = { minVersion: 14, workers: 4 };
  expect(evaluateDatabase(facts, limits).ok).toBe(true);
  expect(evaluateDatabase({ ...facts, version: 13 }, limits)).toMatchObject({ ok: false, fix: 'Upgrade it to version 14 or newer.' });
  const few = { ...facts, connections: { max: 50, used: 3 } };
  expect(evaluateDatabase(few, limits)).toMatchObject({ ok: false, detail: expect.stringContaining('up to 76') });
  expect(evaluateDatabase({ ...few, pooling: 'transaction' }, limits).ok).toBe(true);
});

test('clocks may differ by a minute', () => {
  expect(evaluateDatabaseClock(facts).ok).toBe(true);
  expect(evaluateDatabaseClock({ ...facts, clockAheadSeconds: -3_600 })).toMatchObject({
    ok: false,
    detail: expect.stringContaining('3600 s behind'),
  });
});

test('a standby that is late, or that is not streaming, fails; one that the role may not see is skipped', () => {
  const standby = { name: 'b', state: 'streaming', isSynchronous: true, lagSeconds: null };
  expect(evaluateReplication({ ...facts, standbys: [standby] })).toMatchObject({ ok: true, fix: '' });
  expect(evaluateReplication({ ...facts, standbys: [{ ...standby, isSynchronous: false }] }).fix).toContain('synchronous_standby_names');
  const late = { ...facts, standbys: [standby, { ...standby, name: 'c', lagSeconds: 300 }] };
  expect(evaluateReplication(late)).toMatchObject({ ok: false, detail: 'Standbys do not follow: c (streaming, 300 s late).' });
  expect(evaluateReplication({ ...facts, standbys: [{ ...standby, state: 'startup' }] }).ok).toBe(false);
  const hidden = { name: null, state: null, isSynchronous: false, lagSeconds: null };
  expect(evaluateReplication({ ...facts, standbys: [hidden] })).toMatchObject({ ok: null, fix: expect.stringContaining('pg_monitor') });
});

test('a disk needs a tenth and 1 GB of free space', () => {
  expect(evaluateDisk('/data', { freeBytes: 20e9, bytes: 100e9 }).ok).toBe(true);
  expect(evaluateDisk('/data', { freeBytes: 9e9, bytes: 100e9 })).toMatchObject({
    ok: false,
    detail: expect.stringContaining('9.0 of 100.0 GB'),
  });
  expect(evaluateDisk('/data', { freeBytes: 0.9e9, bytes: 2e9 }).ok).toBe(false);
});

test('a backup may be 26 hours old, and not empty', () => {
  const newest = { name: 'a.tar.gz', writtenAt: 0, bytes: 10 };
  expect(evaluateBackup('/b', newest, 26 * 3_600_000).ok).toBe(true);
  expect(evaluateBackup('/b', newest, 27 * 3_600_000).ok).toBe(false);
  expect(evaluateBackup('/b', { ...newest, bytes: 0 }, 0).ok).toBe(false);
});

test('a proxy for TLS has to send the address, and two proxies need TRUST_PROXY=2', () => {
  const settings = { publicUrl: 'https://auth.example.com', trustProxy: 0 };
  const plain = { address: '10.0.0.1', forwarded: 0, isHostPublic: true };
  expect(evaluateProxy({ plain, forged: plain }, settings)).toMatchObject({ ok: false, fix: expect.stringContaining('forwardfor') });
  const two = { ...plain, forwarded: 2 };
  expect(evaluateProxy({ plain: two, forged: two }, { ...settings, trustProxy: 1 })).toMatchObject({
    ok: false,
    fix: 'Set TRUST_PROXY=2.',
  });
  expect(evaluateProxy({ plain: two, forged: two }, { ...settings, trustProxy: 2 }).ok).toBe(true);
  expect(evaluateProxy({ plain, forged: plain }, { ...settings, trustProxy: 1 })).toMatchObject({
    ok: false,
    fix: expect.stringContaining('append'),
  });
});

test('PUBLIC_URL needs an address in the DNS', async () => {
  const dns = (addresses: string[]) => ({ ...openDns({ servers: null, isAllowedAddress: null }), addresses: async () => addresses });
  expect((await checkPublicName('https://auth.example.com', dns(['203.0.114.5']))).ok).toBe(true);
  expect(await checkPublicName('https://auth.example.com', dns([]))).toMatchObject({
    ok: false,
    fix: expect.stringContaining('A or AAAA'),
  });
  expect((await checkPublicName('http://localhost:4400', dns([]))).ok).toBeNull();
});
