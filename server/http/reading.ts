import type { IncomingMessage } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { MAX_INPUT_ITEMS } from '../../contract/limits.ts';

const MAX_BODY_BYTES = 16 * 1024;
const NUL = /\0|\\u0000/;

/** Headers that contain lists which the service or one of its libraries may split. */
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
 * Refuses a request without Host (RFC 9112 §3.2), and one with more than MAX_INPUT_ITEMS query parameters, cookies or entries of one
 * list header. Call it before anything parses them, because libraries take quadratic time for some lists.
 * @throws Fault bad_request, too_many_fields
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
 * @param what names the items in the message
 * @param from index in the text to begin at
 * @throws Fault too_many_fields
 */
function requireFewItems(what: string, text: string, separator: string, from = 0): void {
  let at = from - 1;
  for (let items = 1; items <= MAX_INPUT_ITEMS; items++) {
    at = text.indexOf(separator, at + 1);
    if (at < 0) return;
  }
  throw new Fault('too_many_fields', { message: `The request has more than ${MAX_INPUT_ITEMS} ${what}.` });
}

/**
 * Returns the query of a request. A repeated parameter is an array, which the schema of a single value refuses.
 * @throws Fault bad_request for a NUL character, which PostgreSQL cannot hold
 */
export function queryOf(request: IncomingMessage): Record<string, string | string[]> {
  const url = request.url ?? '';
  const at = url.indexOf('?');
  return at < 0 ? {} : fieldsOf(url.slice(at + 1));
}

/**
 * Returns the JSON object, or where allowed the form, in a request's body; an empty object when there is no body.
 * @throws Fault unsupported_media_type, too_large, too_many_fields, bad_json, bad_request
 */
export async function readBody(request: IncomingMessage, allowForm: boolean): Promise<Record<string, unknown>> {
  const type = request.headers['content-type']?.split(';')[0].trim().toLowerCase();
  const isForm = allowForm && type === 'application/x-www-form-urlencoded';
  const isEmpty =
    request.headers['content-length'] === '0' ||
    (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined);
  if (type !== 'application/json' && !isForm && !(isEmpty && type === undefined)) throw new Fault('unsupported_media_type');
  if (isEmpty) return {};
  const text = await readText(request);
  if (!isForm) return parseObject(text);
  requireFewItems('form fields', text, '&');
  return fieldsOf(text);
}

async function readText(request: IncomingMessage): Promise<string> {
  if (Number(request.headers['content-length']) > MAX_BODY_BYTES) throw new Fault('too_large');
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) {
        request.pause();
        reject(new Fault('too_large'));
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString()));
    request.on('error', (cause) => reject(new Fault('bad_request', { message: 'The body is incomplete.', cause })));
  });
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Fault('bad_json', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Fault('bad_json');
  if (NUL.test(text)) throw nulFault();
  return value as Record<string, unknown>;
}

/**
 * Returns the fields of a query or form. A repeated field is an array. Takes time proportional to the length of `encoded`.
 * @throws Fault bad_request for a NUL character
 */
export function fieldsOf(encoded: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {};
  for (const [key, value] of new URLSearchParams(encoded)) {
    if (NUL.test(value)) throw nulFault();
    if (key === '__proto__') continue;
    const known = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (known === undefined) fields[key] = value;
    else if (typeof known === 'string') fields[key] = [known, value];
    else known.push(value);
  }
  return fields;
}

function nulFault(): Fault {
  return new Fault('bad_request', { message: 'A NUL character is not allowed.' });
}

/** Returns the bearer token of an Authorization header (RFC 6750 §2.1), if it contains one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer ([\w-]+)$/i.exec(authorization ?? '')?.[1];
}
