import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { requireOwnForm, requireOwnOrigin } from './protection.ts';

const origins = new Set(['https://auth.example']);

/** Returns which of a call and a form with these headers is accepted. */
function accepted(headers: Record<string, string>): string[] {
  const request = { headers } as unknown as IncomingMessage;
  const isAccepted = (check: () => void) => {
    try {
      check();
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: 'foreign_origin' });
      return false;
    }
  };
  const call = isAccepted(() => requireOwnOrigin(request, 'person', origins));
  const form = isAccepted(() => requireOwnForm(request, origins));
  return [...(call ? ['call'] : []), ...(form ? ['form'] : [])];
}

test.each<[Record<string, string>, string[]]>([
  [{ origin: 'https://auth.example' }, ['call', 'form']],
  [{ origin: 'https://evil.example' }, []],
  [{ origin: 'https://sub.auth.example' }, []],
  [{ origin: 'null' }, []],
  [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, []],
  [{ referer: 'https://auth.example/auth' }, ['call', 'form']],
  [{ referer: 'https://evil.example/auth' }, []],
  [{ 'sec-fetch-site': 'same-origin' }, ['call', 'form']],
  [{ 'sec-fetch-site': 'same-site' }, []],
  [{ 'sec-fetch-site': 'cross-site' }, []],
  // A program, and a person who entered the address.
  [{ 'sec-fetch-site': 'none' }, ['call']],
  [{}, ['call']],
])('with the headers %j these are accepted: %j', (headers, expected) => {
  expect(accepted(headers)).toEqual(expected);
});
