import type { IncomingMessage } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { MAX_INPUT_ITEMS } from '../../contract/rules.ts';

/** Headers that hold lists, and that the service or one of its libraries may split. */
const LIST_HEADERS = [
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'forwarded',
  'if-match',
  'if-none-match',
  'range',
  'x-forwarded-for',
] as const;

/**
 * Rejects a request without Host (RFC 9112 §3.2), and one with more query parameters, cookies or entries of one list header than
 * MAX_INPUT_ITEMS. It is called before anything parses them, since libraries take quadratic time for some lists.
 * @throws Fault bad_request, too_many_fields, which names what there are too many of
 */
export function requireReadable({ url = '', httpVersion, headers }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') throw new Fault('bad_request', { message: 'The header Host is missing.' });
  const queryAt = url.indexOf('?');
  if (queryAt >= 0) requireFewItems('query parameters', url, '&', queryAt);
  if (headers.cookie !== undefined) requireFewItems('cookies', headers.cookie, ';');
  for (const name of LIST_HEADERS) {
    const list = headers[name];
    if (typeof list !== 'string') continue;
    requireFewItems(`entries in the header ${name}`, list, ',');
    requireFewItems(`parameters in the header ${name}`, list, ';');
  }
}

/**
 * @param what the items, for the message
 * @param from where in the text to begin
 * @throws Fault too_many_fields
 */
export function requireFewItems(what: string, text: string, separator: string, from = 0): void {
  let at = from - 1;
  for (let items = 1; items <= MAX_INPUT_ITEMS; items++) {
    at = text.indexOf(separator, at + 1);
    if (at < 0) return;
  }
  throw new Fault('too_many_fields', { message: `The request has more than ${MAX_INPUT_ITEMS} ${what}.` });
}
