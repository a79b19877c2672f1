import { expect, test } from 'vitest';
import { connectionOf, hostsOf, normalizeUrl, placeOf, tlsFaultOf, userOf, withHost } from './address.ts';

const SEVERAL = 'postgres://u:p%40ss@db1:5433,db2,[::1]:5434/emailauth?sslmode=require&target_session_attrs=read-write';

test('several hosts in the authority become parameters, each with a port', () => {
  const url = normalizeUrl(SEVERAL) as string;
  expect(hostsOf(url)).toEqual([
    { host: 'db1', port: '5433' },
    { host: 'db2', port: '5432' },
    { host: '::1', port: '5434' },
  ]);
  expect(placeOf(url)).toBe('db1:5433,db2:5432,::1:5434/emailauth');
});

test('the URL of a single host keeps user, password, database and the other parameters', () => {
  const url = normalizeUrl(SEVERAL) as string;
  expect(withHost(url, { host: '::1', port: '5434' })).toBe('postgres://u:p%40ss@[::1]:5434/emailauth?sslmode=require');
});

test('hosts and ports given as parameters are accepted, one port for all included', () => {
  const url = 'postgres://u:p@db1/emailauth?host=db1,db2&port=6432';
  expect(normalizeUrl(url)).toBe(url);
  expect(hostsOf(url)).toEqual([
    { host: 'db1', port: '6432' },
    { host: 'db2', port: '6432' },
  ]);
});

test('the URL of one host is not changed', () => {
  for (const url of ['postgres://u:p@db:5432/emailauth', 'postgresql://db/emailauth?sslmode=require', 'postgres:///emailauth']) {
    expect(normalizeUrl(url)).toBe(url);
    expect(placeOf(url)).toBe(`${new URL(url).host || 'this machine'}/emailauth`);
  }
});

test.each(['mysql://u:p@db/x', 'postgres://u:p@db1,,db2/x', 'postgres://u:p@db1:x,db2/x', 'postgres://db/x?host=a,b&port=1,2,3'])(
  'refuses %s',
  (uri) => expect(normalizeUrl(uri)).toBeNull(),
);

test('a user without a host becomes a parameter, as for the socket of Cloud SQL', () => {
  const url = normalizeUrl('postgres://app:p%40s%3As@/emailauth?host=/cloudsql/project:region:name') as string;
  expect([placeOf(url), userOf(url)]).toEqual(['this machine/emailauth', 'app']);
  const expected = { user: 'app', password: 'p@s:s', host: '/cloudsql/project:region:name', database: 'emailauth' };
  expect(connectionOf(url)).toMatchObject(expected);
  expect(normalizeUrl('postgres://app:%zz@/emailauth')).toBeNull();
});

test.each([
  ['/My%25DB', 'My%DB'],
  ['/a%2Fb', 'a/b'],
  ['/b%C3%BCro', 'büro'],
])('the database of %s is %s', (path, database) => expect(connectionOf(`postgres://u:p@db${path}`)).toMatchObject({ database }));

test.each([
  ['sslmode=require', null],
  ['sslmode=verify-full&sslrootcert=system', null],
  ['sslmode=no-verify', 'give sslmode as one of disable, allow, prefer, require, verify-ca, verify-full'],
  ['sslmode=verify-ca', 'give sslrootcert, the file of the certificate authority, for sslmode=verify-ca'],
  ['sslmode=require&sslrootcert=system', 'give sslmode=verify-full for sslrootcert=system'],
  ['sslmode=verify-full&sslrootcert=/nowhere/ca.pem', 'give sslrootcert as a file that exists: /nowhere/ca.pem does not'],
])('%s: %s', (parameters, fault) => expect(tlsFaultOf(`postgres://u:p@db/x?${parameters}`)).toBe(fault));
