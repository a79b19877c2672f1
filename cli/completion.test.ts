import { expect, test } from 'vitest';
import { suggestionFor } from './completion.ts';

/** Returns the values for a line, in which | separates the words. */
const valuesFor = (line: string) => suggestionFor(line.split('|')).candidates.map(([value]) => value);

test.each([
  ['si', ['sites']],
  ['re', ['register', 'restore']],
  ['sites|', ['list', 'add', 'get', 'update', 'give-back', 'remove', 'verify']],
  ['sites|re', ['remove']],
  ['help|sites|re', ['remove']],
  ['help|sites|add|', []],
  ['hel', ['help']],
  ['db|', ['migrate', 'partitions', 'forget-secret-key', 'rotate-signing-keys', 'erase']],
  ['nothing|', []],
  ['whoami|', []],
  ['open|d', ['dashboard', 'docs']],
  ['config|get|', ['host', 'language']],
  ['mcp|', ['install', 'uninstall', 'config']],
  ['mcp|--rea', ['--read-only']],
  ['mcp|install|c', ['claude-code', 'claude-desktop', 'cursor', 'codex']],
  ['mcp|install|cursor|--scope|', ['user', 'project']],
  ['config|set|--verbose|h', ['host']],
  ['--host|https://auth.example.com|sites|l', ['list']],
  ['--host=https://auth.example.com|sites|l', ['list']],
  ['sites|add|--ic', ['--icon']],
  ['login|--no', ['--no-browser', '--no-input', '--no-color']],
  ['login|--no-browser|--no', ['--no-input', '--no-color']],
  ['login|--email|op', []],
  ['-', expect.arrayContaining(['--json', '--host', '--help'])],
])('completes %s', (line, values) => {
  expect(valuesFor(line)).toEqual(values);
});

test.each([
  ['sites|get|', 'sites', ''],
  ['sites|remove|sh', 'sites', 'sh'],
  ['sites|update|shop.example|--icon|lo', 'files', 'lo'],
  ['sites|update|shop.example|--icon=lo', 'files', 'lo'],
  ['init|--framework|', 'frameworks', ''],
  ['init|--framework=ex', 'frameworks', 'ex'],
  ['verify|--domain|', 'sites', ''],
  ['backup|back', 'files', 'back'],
  ['init|', 'files', ''],
  ['sites|get|shop.example|', undefined, ''],
])('%s is completed from %s', (line, source, typed) => {
  expect(suggestionFor(line.split('|'))).toMatchObject({ candidates: [], source, typed });
});

test('earlier flags select the service', () => {
  expect(suggestionFor('--host|https://a.example|sites|get|--profile=work|'.split('|')).flags).toEqual({
    host: 'https://a.example',
    profile: 'work',
  });
});
