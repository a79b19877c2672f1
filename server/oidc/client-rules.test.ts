import { errors, type Provider } from 'oidc-provider';
import { expect, test } from 'vitest';
import { applyClientRules, registrationConfiguration } from './client-rules.ts';

/** The methods that a client gets. */
const prototype: Record<string, (this: object, uri: string) => boolean> = {};
applyClientRules({ Client: { prototype } } as unknown as Provider);
const isAllowed = (clientId: string, redirectUris: string[], uri: string) =>
  prototype.redirectUriAllowed.call({ clientId, redirectUris }, uri);

test.each([
  ['https://shop.example', 'https://shop.example', true],
  ['https://shop.example', 'https://shop.example/any?path', true],
  ['https://shop.example', 'https://shop.example.evil.example/', false],
  ['https://shop.example', 'https://shop.example@evil.example/', false],
  ['https://shop.example', 'https://shop.example/#fragment', false],
  ['https://shop.example', 'http://shop.example/', false],
])('the website %s may be returned to at %s: %j', (clientId, uri, expected) => {
  expect(isAllowed(clientId, [], uri)).toBe(expected);
});

test.each([
  ['com.example.app:/callback', true],
  ['javascript:alert(1)', false],
  ['data:text/html,x', false],
])('a client whose URI is %s may use it: %j', (uri, expected) => {
  expect(isAllowed('app', [uri], uri)).toBe(expected);
});

test('the metadata of a client that describes itself sets none of the fields of the service', () => {
  const parts = { count: async () => {}, isLocal: false, fetch };
  const { extraClientMetadata } = registrationConfiguration(parts as never, errors);
  const metadata = { client_id: 'https://app.example/client.json', redirect_uris: ['https://app.example/cb'] };
  for (const name of extraClientMetadata.properties) Object.assign(metadata, { [name]: 'given' });
  extraClientMetadata.validator(undefined, '', undefined, metadata);
  expect(Object.keys(metadata).filter((name) => extraClientMetadata.properties.includes(name as never))).toEqual([]);
});
