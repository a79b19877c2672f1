import { expect, test } from 'vitest';
import { configDirectory, openSettings, originOf } from './settings.ts';

test.each([
  ['https://auth.example.com', 'https://auth.example.com'],
  ['https://Auth.Example.com/', 'https://auth.example.com'],
  ['auth.example.com', 'https://auth.example.com'],
  ['auth.example.com:8443', 'https://auth.example.com:8443'],
  ['localhost:3000', 'http://localhost:3000'],
  ['127.0.0.1:3000', 'http://127.0.0.1:3000'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['http://[::1]:3000', 'http://[::1]:3000'],
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
