import { describe, expect, test } from 'vitest';
import { putEntry } from './config-text.ts';
import { removeEntry } from './remove-entry.ts';

const jsonc = { format: 'jsonc', key: 'servers' } as const;
const toml = { format: 'toml', key: 'mcp_servers' } as const;
const entry = { command: 'emailauth', args: ['mcp'], env: { A: '1' } };
const input = { id: 'emailauth-token-one.example' };
const withInput = { url: 'https://one.example/mcp', headers: { Authorization: `Bearer \${input:${input.id}}` } };

const files: [string, string][] = [
  ['of one line', '{"servers": {"git": {"command": "uvx"}}}'],
  ['with comments', '{\n  // mine\n  "theme": "x", /* dark */\n  "servers": {\n    "git": { "command": "uvx" } // git\n  }\n}\n'],
  ['with trailing commas', '{\n\t"servers": {\n\t\t"git": {}, // git\n\t},\n}\n'],
  ['with Windows line ends', '{\r\n  "servers": {\r\n    "git": {}\r\n  }\r\n}\r\n'],
  ['with a byte order mark', '\ufeff{\n  "servers": {\n    "git": {}\n  }\n}\n'],
];

test.each(files)('removing what was added restores a file %s', (_, text) => {
  const added = putEntry(jsonc, text, { entry, inputs: [] });
  expect(added.text).not.toBe(text);
  const removed = removeEntry(jsonc, added.text);
  expect(removed?.before).toEqual(entry);
  if (text.includes('\n')) expect(removed?.text).toBe(text);
  else expect(JSON.parse(removed?.text ?? '')).toEqual(JSON.parse(text));
});

test.each([
  [
    'the first',
    '{"servers": {\n  "emailauth": {"command": "x"}, // ours\n  // git\n  "git": {}\n}}',
    '{"servers": {\n   // ours\n  // git\n  "git": {}\n}}',
  ],
  ['the only one', '{\n  "servers": {\n    "emailauth": {}\n  }\n}\n', '{\n  "servers": {\n  }\n}\n'],
  [
    'one in the middle',
    '{\n  "servers": {\n    "a": {}, // a\n    "emailauth": {\n      "x": 1\n    },\n    "b": {} // b\n  }\n}\n',
    '{\n  "servers": {\n    "a": {}, // a\n    "b": {} // b\n  }\n}\n',
  ],
])('removes %s of several entries, and keeps the comments of the others', (_, text, after) => {
  expect(removeEntry(jsonc, text)?.text).toBe(after);
});

test('returns null without an entry', () => {
  expect(removeEntry(jsonc, '')).toBeNull();
  expect(removeEntry(jsonc, '{"servers": {"git": {}}}')).toBeNull();
  expect(removeEntry(toml, '[mcp_servers.git]\ncommand = "uvx"\n')).toBeNull();
});

describe('the input of VS Code', () => {
  const text = '{\n  "servers": {\n    "git": {}\n  }\n}\n';

  test('is removed with the entry that refers to it', () => {
    const added = putEntry(jsonc, text, { entry: withInput, inputs: [input] }).text;
    expect(added).toContain(input.id);
    expect(removeEntry(jsonc, added)?.text).not.toContain('emailauth');
  });

  test('stays when another server refers to it', () => {
    const added = putEntry(jsonc, text.replace('{}', `{"env": {"T": "\${input:${input.id}}"}}`), {
      entry: withInput,
      inputs: [input],
    }).text;
    expect(removeEntry(jsonc, added)?.text).toContain('"inputs"');
  });
});

test.each([
  ['with other servers', '# mine\nmodel = "x" # fast\n\n[mcp_servers.git]\ncommand = "uvx"\n'],
  ['with Windows line ends', 'model = "x"\r\n'],
  ['without anything', ''],
])('removing what was added restores a TOML file %s', (_, text) => {
  const added = putEntry(toml, text, { entry, inputs: [] }).text;
  expect(removeEntry(toml, added)?.text.trimEnd()).toBe(text.trimEnd());
});

test('removes the tables of the entry from a TOML file, and keeps the comments of the next one', () => {
  const text =
    '[mcp_servers.emailauth]\ncommand = "x"\n\n[mcp_servers.emailauth.env]\nA = "1"\n\n# git\n[mcp_servers.git]\ncommand = "uvx"\n';
  expect(removeEntry(toml, text)?.text).toBe('\n# git\n[mcp_servers.git]\ncommand = "uvx"\n');
});

test('refuses a file that cannot be edited safely', () => {
  expect(() => removeEntry(toml, 'mcp_servers = { emailauth = { command = "b" } }\n')).toThrow('edited safely');
  expect(() => removeEntry(jsonc, '{"servers": []}')).toThrow('a list instead of an object');
});
