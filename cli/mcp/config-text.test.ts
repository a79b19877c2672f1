import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { NotEditable, putEntry } from './config-text.ts';

const json = { format: 'json', key: 'mcpServers' } as const;
const jsonc = { format: 'jsonc', key: 'servers' } as const;
const toml = { format: 'toml', key: 'mcp_servers' } as const;
const entry = { command: '/usr/bin/node', args: ['/x/main.js', 'mcp'] };
const wanted = { entry, inputs: [] };
const put = (client: Parameters<typeof putEntry>[0], text: string, entryToPut = wanted) => putEntry(client, text, entryToPut);

describe('JSON', () => {
  test.each(['', ' \n', '{}', '{}\n', '{"mcpServers":{}}', '\ufeff{ }'])('is added to %j, and does not change the second time', (text) => {
    const { text: first, before } = put(json, text);
    expect(before).toBeNull();
    expect(JSON.parse(first.replace('\ufeff', ''))).toEqual({ mcpServers: { emailauth: entry } });
    expect(first.startsWith('\ufeff')).toBe(text.startsWith('\ufeff'));
    expect(put(json, first)).toMatchObject({ text: first, before: entry });
  });

  test('keeps comments, order, indentation, line ends and everything else', () => {
    const text = [
      '// mine',
      '{',
      '\t"servers": {',
      '\t\t/* first */ "git": {"command":"uvx","args":["mcp-server-git",],}, // why',
      '\t},',
      '\t"inputs": [],',
      '}',
      '',
    ].join('\r\n');
    const { text: after } = put(jsonc, text);
    const lines = after.split('\r\n');
    expect(lines.slice(0, 4)).toEqual(text.split('\r\n').slice(0, 4));
    expect(lines.slice(-4)).toEqual(text.split('\r\n').slice(-4));
    expect(after).toContain('\r\n\t\t"emailauth": {\r\n\t\t\t"command"');
    expect(after.replaceAll('\r\n', '')).not.toContain('\n');
    expect(parseJson(after)).toEqual({ servers: { git: { command: 'uvx', args: ['mcp-server-git'] }, emailauth: entry }, inputs: [] });
  });

  test.each([
    ['{\n    "a": 1\n}\n', '{\n    "a": 1,\n    "servers": {\n        "emailauth": {\n            "x": 1\n        }\n    }\n}\n'],
    ['{\n  "servers": {}\n}', '{\n  "servers": {\n    "emailauth": {\n      "x": 1\n    }\n  }\n}'],
    ['{\n  "servers": {\n  }\n}', '{\n  "servers": {\n    "emailauth": {\n      "x": 1\n    }\n  }\n}'],
    ['{\n  "servers": {"emailauth": 1, "b": 2}\n}', '{\n  "servers": {"emailauth": {\n    "x": 1\n  }, "b": 2}\n}'],
    ['{"a":1}', '{\n  "a": 1,\n  "servers": {\n    "emailauth": {\n      "x": 1\n    }\n  }\n}'],
    [
      '{\n  "servers": {\n    "a": 1 // one\n  }\n}',
      '{\n  "servers": {\n    "a": 1, // one\n    "emailauth": {\n      "x": 1\n    }\n  }\n}',
    ],
  ])('%j becomes %j', (text, after) => {
    expect(put(jsonc, text, { entry: { x: 1 } as never, inputs: [] }).text).toBe(after);
  });

  test('keeps what a person added to an older entry of the same kind', () => {
    const older = { command: 'emailauth', args: ['mcp'], trust: true };
    const { text, before, after } = put(json, JSON.stringify({ mcpServers: { a: 1, emailauth: older, z: 2 } }));
    expect([before, after]).toEqual([older, { ...entry, trust: true }]);
    expect(Object.keys(JSON.parse(text).mcpServers)).toEqual(['a', 'emailauth', 'z']);
    expect(put(json, text).text).toBe(text);
    const byAddress = { mcpServers: { emailauth: { url: 'https://a.example/mcp', headers: { a: 'b' } } } };
    expect(put(json, JSON.stringify(byAddress)).after).toEqual(entry);
  });

  test('adds the input for a key once', () => {
    const inputs = [{ id: 'emailauth-token', type: 'promptString' }];
    const { text } = put(jsonc, '{ "inputs": [{ "id": "other" }] }', { entry, inputs } as typeof wanted);
    expect(parseJson(text)).toEqual({ inputs: [{ id: 'other' }, ...inputs], servers: { emailauth: entry } });
    expect(put(jsonc, text, { entry, inputs } as typeof wanted).text).toBe(text);
  });

  test.each([
    [json, '{"mcpServers": {', 'line 1, column 17: close brace expected'],
    [json, '{\n  "a": 1\n  "b": 2\n}', 'line 3, column 3: comma expected'],
    [json, '// note\n{}', 'line 1, column 1: invalid comment token'],
    [json, '{"a":1,}', 'line 1, column 8'],
    [json, '[]', 'line 1: there is no object'],
    [json, '{"mcpServers": []}', '"mcpServers" is a list instead of an object'],
    [json, '{"mcpServers": null}', '"mcpServers" is not an object'],
    [json, '{"mcpServers":{"emailauth":1,"emailauth":2}}', 'edited safely'],
    [jsonc, '{"inputs": 1}', '"inputs" is not a list'],
    [toml, 'a = [', 'line 1'],
    [toml, 'mcp_servers = 1', '"mcp_servers" is not an object'],
    [toml, 'mcp_servers = { git = { command = "uvx" } }', 'edited safely'],
    [toml, '[mcp_servers]\nemailauth = { command = "x" }', 'edited safely'],
    [toml, 'mcp_servers.emailauth.command = "x"', 'edited safely'],
    [toml, '[mcp_servers.emailauth]\ncommand = """\n[a]\n"""\n', 'edited safely'],
  ])('%o with %j is refused', (client, text, message) => {
    const inputs = client === jsonc ? [{ id: 'a' }] : [];
    expect(() => putEntry(client, text, { entry, inputs })).toThrow(NotEditable);
    expect(() => putEntry(client, text, { entry, inputs })).toThrow(message);
  });
});

describe('TOML', () => {
  const others = '# mine\nmodel = "o3" # why\n\n[mcp_servers.git]\ncommand = "uvx"\n\n[[profiles]]\nname = "a"\n';
  const block = '[mcp_servers.emailauth]\ncommand = "/usr/bin/node"\nargs = [ "/x/main.js", "mcp" ]\n';

  test.each(['', '\n\n', others, others.trimEnd()])('is appended to %j', (text) => {
    const { text: after } = put(toml, text);
    expect(after).toBe(text.trim() ? `${text.trimEnd()}\n\n${block}` : block);
    expect(put(toml, after).text).toBe(after);
  });

  test.each(['[mcp_servers.emailauth]', '  [ mcp_servers . "emailauth" ]  # ours'])(
    '%s is replaced in its place, with the tables below it',
    (head) => {
      const own = `${head}\ncommand = "old"\nstartup_timeout_sec = 20\n\n[mcp_servers.emailauth.env]\nA = "b"\n`;
      const rest = '\n# of the next one\n[[list]]\nname = "a"\n\n[tools]\nweb_search = true\n';
      const { text, after } = put(toml, others + own + rest);
      expect(text.startsWith(`${others}[mcp_servers.emailauth]\ncommand = "/usr/bin/node"`)).toBe(true);
      expect(text.endsWith(rest)).toBe(true);
      expect(after).toEqual({ ...entry, startup_timeout_sec: 20, env: { A: 'b' } });
      expect(parseToml(text)).toEqual(
        parseToml(
          `${others}${rest}\n[mcp_servers.emailauth]\ncommand = "/usr/bin/node"\nargs = ["/x/main.js", "mcp"]\nstartup_timeout_sec = 20\nenv = { A = "b" }`,
        ),
      );
      expect(put(toml, text).text).toBe(text);
    },
  );

  test('keeps the line ends', () => {
    expect(put(toml, 'a = 1\r\n').text.replaceAll('\r\n', '')).not.toContain('\n');
  });
});
