import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { configDirectory, openCredentials, openSettings, originOf } from './settings.ts';

test.each([
  ['https://auth.example.com', 'https://auth.example.com'],
  ['https://Auth.Example.com/', 'https://auth.example.com'],
  ['auth.example.com', 'https://auth.example.com'],
  ['auth.example.com:8443', 'https://auth.example.com:8443'],
  ['localhost:4400', 'http://localhost:4400'],
  ['127.0.0.1:4400', 'http://127.0.0.1:4400'],
  ['http://localhost:4400', 'http://localhost:4400'],
  ['https://authserver', 'https://authserver'],
  ['localhost', 'http://localhost'],
  ['192.0.2.7:8443', 'https://192.0.2.7:8443'],
  ['http://[::1]:4400', 'http://[::1]:4400'],
])('%s is the service %s', (text, origin) => {
  expect(originOf(text, '--host')).toBe(origin);
});

test.each([
  'http://auth.example.com',
  'ftp://auth.example.com',
  'https://auth.example.com/path',
  'https://a:b@auth.example.com',
  'https://x?y',
  'not a host',
  'not-a-url',
  'not-a-url:443',
  'https://a..example.com',
  'https://-a.example.com',
  'a..example.com',
  '.example.com',
  '1.2',
  'https:auth.example.com',
  'https://:secret@auth.example.com',
  '',
])('%j is refused', (text) => {
  expect(() => originOf(text, '--host')).toThrow(/--host/);
});

test('a flag beats the environment, and the environment the default', async () => {
  const env = { EMAILAUTH_HOST: 'auth.example.com', XDG_CONFIG_HOME: '/nowhere' };
  expect(await openSettings({ host: 'localhost:1' }, env).host()).toEqual({ value: 'http://localhost:1', source: 'flag' });
  expect(await openSettings({}, env).host()).toEqual({ value: 'https://auth.example.com', source: 'environment' });
});

test('a relative XDG_CONFIG_HOME is ignored', () => {
  expect(configDirectory({ XDG_CONFIG_HOME: 'config', HOME: '/home/ann' })).toBe('/home/ann/.config/emailauth');
  expect(configDirectory({ XDG_CONFIG_HOME: '/config' })).toBe('/config/emailauth');
});

const HOST = 'https://auth.example.com';
const named = (value: string) => ({ value, source: 'environment' }) as const;

async function withEnvironment(token: string | undefined, use: (credentials: Awaited<ReturnType<typeof openCredentials>>) => void) {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-unit-'));
  try {
    use(await openCredentials('default', { XDG_CONFIG_HOME: directory, EMAILAUTH_TOKEN: token }));
  } finally {
    await rm(directory, { recursive: true });
  }
}

test.each(['ea_live_abc', ' ea_live_abc\n'])('EMAILAUTH_TOKEN %j takes precedence over a stored sign-in', (token) =>
  withEnvironment(token, (credentials) => {
    credentials.store(HOST, { email: 'you@example.com', token: 'stored', expiresAt: '2026-12-21T00:00:00Z' });
    expect(credentials.callerAt(named(HOST))).toEqual({ token: 'ea_live_abc', source: 'EMAILAUTH_TOKEN' });
    expect(credentials.storedAt(HOST)?.token).toBe('stored');
  }),
);

test.each([undefined, '', ' '])('EMAILAUTH_TOKEN %j counts as unset', (token) =>
  withEnvironment(token, (credentials) => {
    expect(credentials.callerAt(named(HOST))).toBeNull();
    credentials.store(HOST, { email: 'you@example.com', token: 'stored', expiresAt: '2026-12-21T00:00:00Z' });
    expect(credentials.callerAt(named(HOST))).toMatchObject({ email: 'you@example.com', token: 'stored', source: 'credentials' });
    expect(credentials.callerAt(named('https://auth.example.org'))).toBeNull();
  }),
);

test('EMAILAUTH_TOKEN is not for a service that no one named', () =>
  withEnvironment('ea_live_abc', (credentials) => {
    const host = { value: 'http://localhost:4400', source: 'default' } as const;
    expect(() => credentials.callerAt(host)).toThrow('EMAILAUTH_TOKEN is set, but not the service it is for.');
    expect(credentials.callerAt({ ...host, source: 'config' })).toMatchObject({ token: 'ea_live_abc' });
  }));

test.each(['a\nb: c', '\x1b[2J', 'ü', 'two words'])('EMAILAUTH_TOKEN %j is refused', (token) =>
  withEnvironment(token, (credentials) => {
    expect(() => credentials.callerAt(named(HOST))).toThrow('EMAILAUTH_TOKEN is not a valid token.');
  }),
);

test('EMAILAUTH_TOKEN works where the directory of the credentials cannot be created', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-unit-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'file'), '');
  const env = { XDG_CONFIG_HOME: join(directory, 'file'), EMAILAUTH_TOKEN: 'ea_live_abc' };
  const credentials = await openCredentials('default', env);
  expect(credentials.callerAt(named(HOST))).toEqual({ token: 'ea_live_abc', source: 'EMAILAUTH_TOKEN' });
  const stored = { email: 'you@example.com', token: 'stored', expiresAt: '2026-12-21T00:00:00Z' };
  expect(() => credentials.store(HOST, stored)).toThrow(/credentials\.json cannot be used/);
});

test('a directory that cannot be written is reported before anything is stored', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-unit-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await writeFile(join(directory, 'file'), '');
  const credentials = await openCredentials('default', { XDG_CONFIG_HOME: join(directory, 'file') });
  expect(() => credentials.requireWritable()).toThrow(/file\/emailauth cannot be written \(ENOTDIR\)/);
  const usable = await openCredentials('default', { XDG_CONFIG_HOME: directory });
  usable.requireWritable();
  expect(await readdir(join(directory, 'emailauth'))).toEqual([]);
});

test('the directory of the settings is created when something is stored', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'emailauth-unit-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const env = { XDG_CONFIG_HOME: directory };
  const settings = openSettings({}, env);
  expect([await settings.get('language'), (await openCredentials('default', env)).storedAt(HOST)]).toEqual([undefined, null]);
  expect(await readdir(directory)).toEqual([]);
  await settings.set('language', 'lv');
  expect([await settings.get('language'), await readdir(directory)]).toEqual(['lv', ['emailauth']]);
});
