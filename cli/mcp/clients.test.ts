import { expect, test } from 'vitest';
import { CLIENT_IDS, clients, requireClient } from './clients.ts';

const home = '/home/ann';
const url = 'https://auth.example:8443/mcp';
const paths = (platform: NodeJS.Platform, env: Record<string, string> = {}) =>
  Object.fromEntries(clients.map((client) => [client.id, client.userPath({ env, home, platform })]));

test('every id has a client', () => {
  expect(clients.map(({ id }) => id)).toEqual([...CLIENT_IDS]);
});

test.each([
  ['linux', {}, '/home/ann/.config/Claude', '/home/ann/.config/Code'],
  ['linux', { XDG_CONFIG_HOME: '/etc/ann' }, '/etc/ann/Claude', '/etc/ann/Code'],
  ['linux', { XDG_CONFIG_HOME: 'relative' }, '/home/ann/.config/Claude', '/home/ann/.config/Code'],
  ['darwin', { XDG_CONFIG_HOME: '/x' }, '/home/ann/Library/Application Support/Claude', '/home/ann/Library/Application Support/Code'],
  ['win32', { APPDATA: '/roaming' }, '/roaming/Claude', '/roaming/Code'],
] as const)('on %s with %j programs with a window keep their settings in their own place', (platform, env, claude, code) => {
  expect(paths(platform, env)).toEqual({
    'claude-code': '/home/ann/.claude.json',
    'claude-desktop': `${claude}/claude_desktop_config.json`,
    cursor: '/home/ann/.cursor/mcp.json',
    vscode: `${code}/User/mcp.json`,
    codex: '/home/ann/.codex/config.toml',
    'gemini-cli': '/home/ann/.gemini/settings.json',
  });
});

test('variables for other directories are respected', () => {
  const env = { CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x', GEMINI_CLI_HOME: '/g' };
  expect(paths('linux', env)).toMatchObject({
    'claude-code': '/c/.claude.json',
    codex: '/x/config.toml',
    'gemini-cli': '/g/.gemini/settings.json',
  });
});

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: the clients put the value in.
test.each([
  ['claude-code', { type: 'http', url, headers: { Authorization: 'Bearer ${KEY}' } }],
  ['cursor', { url, headers: { Authorization: 'Bearer ${env:KEY}' } }],
  ['vscode', { type: 'http', url, headers: { Authorization: 'Bearer ${input:emailauth-token-auth.example-8443}' } }],
  ['codex', { url, bearer_token_env_var: 'KEY' }],
  ['gemini-cli', { httpUrl: url, headers: { Authorization: 'Bearer ${KEY}' } }],
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: until here.
])('%s references a key by its name', (id, entry) => {
  expect(requireClient(id).http?.(url, 'KEY')).toEqual(entry);
  expect(JSON.stringify(requireClient(id).http?.(url, null))).not.toContain('uthorization');
});
