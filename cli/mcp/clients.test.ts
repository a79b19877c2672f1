import { expect, test } from 'vitest';
import { shellLine } from '../terminal.ts';
import { CLIENT_IDS, clients, entryOf, requireClient, type Server } from './clients.ts';

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
  ['vscode', { type: 'http', url, headers: { Authorization: 'Bearer ${env:KEY}' } }],
  ['codex', { url, bearer_token_env_var: 'KEY' }],
  ['gemini-cli', { httpUrl: url, headers: { Authorization: 'Bearer ${KEY}' } }],
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: until here.
])('%s references a key by its name', (id, entry) => {
  expect(entryOf(requireClient(id), { url, tokenFrom: 'KEY' })).toEqual(entry);
  expect(JSON.stringify(entryOf(requireClient(id), { url, tokenFrom: null }))).not.toMatch(/uthorization|bearer/);
});

// As `claude` 2.1, `codex` 0.171 and `gemini` 0.61 of npm accept it.
const local = { command: '/usr/bin/node', args: ['/x/main.js', 'mcp', '--read-only'] };
const withVariable = { ...local, env: { A: 'b c' } };
const started = '/usr/bin/node /x/main.js mcp --read-only';
test.each<[string, Server, 'user' | 'project', string | undefined]>([
  ['claude-code', local, 'user', `claude mcp add --scope user -- emailauth ${started}`],
  ['claude-code', withVariable, 'project', `claude mcp add --scope project --env A='b c' -- emailauth ${started}`],
  ['claude-code', { url, tokenFrom: null }, 'user', `claude mcp add --scope user --transport http emailauth ${url}`],
  [
    'claude-code',
    { url, tokenFrom: 'KEY' },
    'user',
    `claude mcp add --scope user --transport http emailauth ${url} --header 'Authorization: Bearer \${KEY}'`,
  ],
  ['codex', withVariable, 'user', `codex mcp add --env A='b c' emailauth -- ${started}`],
  ['codex', { url, tokenFrom: 'KEY' }, 'user', `codex mcp add emailauth --url ${url} --bearer-token-env-var KEY`],
  ['codex', local, 'project', undefined],
  ['gemini-cli', withVariable, 'user', `gemini mcp add --scope user --env A='b c' emailauth ${started}`],
  ['gemini-cli', { url, tokenFrom: null }, 'project', `gemini mcp add --scope project --transport http emailauth ${url}`],
  ['vscode', { url, tokenFrom: null }, 'user', `code --add-mcp '{"name":"emailauth","type":"http","url":"${url}"}'`],
  ['vscode', local, 'project', undefined],
  ['cursor', local, 'user', undefined],
])('%s with %j for %s is added by %s', (id, server, scope, line) => {
  const command = requireClient(id).add?.(server)[scope];
  expect(command && shellLine(command)).toBe(line);
});

test('the link for Cursor has the name and the entry', () => {
  const link = new URL(requireClient('cursor').link?.(withVariable) ?? '');
  expect(link.href).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=emailauth&config=/);
  const config = Buffer.from(link.searchParams.get('config') ?? '', 'base64').toString();
  expect(JSON.parse(config)).toEqual({ type: 'stdio', ...withVariable });
});
