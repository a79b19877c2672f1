import { describe, expect, test } from 'vitest';
import { mergeEntry, withoutSecrets } from './entry.ts';

const [one, two] = ['https://one.example', 'https://two.example'];
const local = (host: string, more = {}) => ({ command: 'emailauth', args: ['mcp', '--host', host], ...more });
const TOKEN = { EMAILAUTH_TOKEN: 'ea_live_one' };

describe('an entry for another service', () => {
  test.each([
    [{ url: `${one}/mcp`, headers: { Authorization: 'Bearer one' } }, { url: `${two}/mcp` }],
    [{ httpUrl: `${one}/mcp`, headers: { 'X-Key': 'one' }, oauth: { clientSecret: 'one' } }, { httpUrl: `${two}/mcp` }],
    [{ url: `${one}/mcp`, bearer_token_env_var: 'ONE', http_headers: { A: 'one' }, env_http_headers: { B: 'ONE' } }, { url: `${two}/mcp` }],
    [{ url: 'http://two.example/mcp', headers: { Authorization: 'Bearer one' } }, { url: `${two}/mcp` }],
    [{ url: 'not an address', headers: { Authorization: 'Bearer one' } }, { url: `${two}/mcp` }],
    [local(one, { env: { ...TOKEN, EMAILAUTH_HOST: one }, envFile: '.env', env_vars: ['EMAILAUTH_TOKEN'] }), local(two, { env: {} })],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code puts the value in.
    [local(one, { env: { KEY: '${input:one}' } }), local(two, { env: {} })],
    [{ command: 'emailauth', args: ['mcp', `--host=${one}`], env: TOKEN }, local(two, { env: {} })],
    [{ command: 'docker', args: ['run'], env: TOKEN }, local(two, { env: {} })],
    [
      { command: 'emailauth', args: ['mcp'], env: { ...TOKEN, EMAILAUTH_HOST: one } },
      { command: 'emailauth', args: ['mcp'], env: {} },
    ],
  ])('loses its credentials, which is reported: %j', (before, entry) => {
    const merged = mergeEntry({ ...before, trust: true }, entry);
    expect(merged).toEqual({ after: { ...entry, trust: true }, isKeyLeftOut: true });
  });

  test('without credentials loses nothing', () => {
    expect(mergeEntry(local(one, { env: { A: 'b' }, timeout: 5 }), local(two))).toEqual({
      after: local(two, { env: { A: 'b' }, timeout: 5 }),
      isKeyLeftOut: false,
    });
  });
});

test('for the same service keeps its credentials and other variables', () => {
  const headers = { Authorization: 'Bearer one' };
  expect(mergeEntry({ url: `${one}/old`, headers }, { url: `${one}/mcp` })).toEqual({
    after: { url: `${one}/mcp`, headers },
    isKeyLeftOut: false,
  });
  const own = { env: { XDG_CONFIG_HOME: '/etc/ann' } };
  expect(mergeEntry(local(one, { env: { ...TOKEN, A: 'b', XDG_CONFIG_HOME: '/old' } }), local(one, own))).toEqual({
    after: local(one, { env: { ...TOKEN, A: 'b', XDG_CONFIG_HOME: '/etc/ann' } }),
    isKeyLeftOut: false,
  });
});

test('masks secrets of any format; references and our own values stay', () => {
  const own = local(one, { env: { XDG_CONFIG_HOME: '/etc/ann' } });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a client puts the value in.
  const headers = { Authorization: 'Bearer ${env:KEY}', 'X-Key': 'hunter2' };
  const args = ['run', '-e', 'EMAILAUTH_TOKEN=hunter2', 'Bearer 123456789', 'ea_test_123'];
  const env = { EMAILAUTH_TOKEN: 'hunter2', XDG_CONFIG_HOME: '/etc/ann' };
  expect(withoutSecrets({ command: 'docker', args, env, headers, auth_token: 'hunter2', timeout: 5 }, own)).toEqual({
    command: 'docker',
    args: ['run', '-e', 'EMAILAUTH_TOKEN=…', 'Bearer …', 'ea_test_…'],
    env: { EMAILAUTH_TOKEN: '…', XDG_CONFIG_HOME: '/etc/ann' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as above.
    headers: { Authorization: 'Bearer ${env:KEY}', 'X-Key': '…' },
    auth_token: '…',
    timeout: 5,
  });
});
