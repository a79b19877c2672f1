import { expect, test } from 'vitest';
import { readParameters } from './parameters.ts';

const HOST = 'https://auth.example';
const read = (parameters: Record<string, unknown>, route = 'token') => readParameters(parameters, route, HOST);

test.each([
  [`${HOST}/mcp`, `${HOST}/mcp`],
  [`${HOST}/mcp/`, `${HOST}/mcp`],
  [`${HOST}/api/`, `${HOST}/api`],
  ['HTTPS://AUTH.example:443/mcp', `${HOST}/mcp`],
  [`${HOST}/mcp//`, `${HOST}/mcp//`],
  [`${HOST}/MCP`, `${HOST}/MCP`],
  [`${HOST}/mcp?`, `${HOST}/mcp?`],
  [`${HOST}/mcp/#`, `${HOST}/mcp/#`],
  [HOST, HOST],
  ['https://evil.example/mcp/', 'https://evil.example/mcp/'],
  ['mcp', 'mcp'],
])('the resource %s means %s', (resource, meant) => expect(read({ resource }).resource).toBe(meant));

test('several resources are read one by one', () => {
  expect(read({ resource: [`${HOST}/mcp/`, `${HOST}/mcp`, `${HOST}/api`, 'x'] }).resource).toEqual([`${HOST}/mcp`, `${HOST}/api`, 'x']);
});

test.each([
  ['create', 'login'],
  ['create login', 'login'],
  ['consent create', 'consent login'],
  ['none create', 'none login'],
  ['recreate', undefined],
  ['login', undefined],
  [undefined, undefined],
  [['create'], undefined],
])('the prompt %j is read as %j', (prompt, meant) => expect(read({ prompt }, 'authorization').prompt).toBe(meant));

test('an authorization request for a resource without a scope gets the first scopes', () => {
  const resource = `${HOST}/mcp`;
  for (const route of ['authorization', 'pushed_authorization_request'])
    expect(read({ resource }, route).scope).toBe('websites:read stats:read');
  expect(read({ resource, scope: 'openid' }, 'authorization').scope).toBeUndefined();
  expect(read({ resource }, 'token').scope).toBeUndefined();
  expect(read({}, 'authorization')).toEqual({});
});
