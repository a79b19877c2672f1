import type { IncomingMessage } from 'node:http';
import { Fault } from '../../../contract/errors.ts';
import { MAX_INPUT_ITEMS } from '../../../contract/limits.ts';

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

/** A request target in absolute form: its authority, and the path with the query. */
const ABSOLUTE_FORM = /^https?:\/\/([^/?#]*)(.*)$/is;

/**
 * Changes a request target in absolute form to origin form, and Host to its authority (RFC 9112 §3.2.2), so that the same path is read
 * everywhere. Call it before anything reads them.
 */
export function toOriginForm(request: IncomingMessage): void {
  const [, authority, target] = ABSOLUTE_FORM.exec(request.url ?? '') ?? [];
  if (authority === undefined) return;
  // A request without Host stays one, which is refused.
  if (request.headers.host !== undefined) request.headers.host = authority;
  request.url = target.startsWith('/') ? target : `/${target}`;
}

/** Returns the path of a request as it was sent, without the query. */
export function pathOf({ url = '' }: { url?: string }): string {
  const at = url.indexOf('?');
  return at < 0 ? url : url.slice(0, at);
}

/**
 * Refuses a request without Host (RFC 9112 §3.2), and one with more than MAX_INPUT_ITEMS query parameters or entries of one list header.
 * Call it before anything parses them, because libraries take quadratic time for some lists. Cookies are not counted: other apps of a
 * domain may set 180 of them, and only the size of the header bounds them.
 * @throws Fault bad_request, too_many_fields
 */
export function requireReadable({ url = '', httpVersion, headers }: IncomingMessage): void {
  if (headers.host === undefined && httpVersion === '1.1') throw new Fault('bad_request', { message: 'The header Host is missing.' });
  const queryAt = url.indexOf('?');
  if (queryAt >= 0) requireFewItems('query parameters', url, '&', queryAt);
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
export function queryOf(request: { url?: string }): Record<string, string | string[]> {
  return fieldsOf(queryTextOf(request));
}

/** Returns the encoded query of a request without its `?`. Some clients send UTF-8 in it raw, which Node.js reads as latin1. */
export function queryTextOf({ url = '' }: { url?: string }): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : Buffer.from(url.slice(at + 1), 'latin1').toString();
}

/** Returns a URL or a part of one with all characters beyond ASCII percent-encoded as UTF-8 (RFC 3986 §2.5), as a header needs it. */
export const inAscii = (url: string): string => url.replace(/[^\x21-\x7e]+/g, encodeURIComponent);

/**
 * Returns the JSON object, or where allowed the form, in a request's body; an empty object when there is no body.
 * @throws Fault unsupported_media_type, too_large, too_many_fields, bad_json, bad_request
 */
export async function readBody(request: IncomingMessage, allowForm: boolean): Promise<Record<string, unknown>> {
  const type = request.headers['content-type']?.split(';')[0].trim().toLowerCase();
  const isForm = allowForm && type === 'application/x-www-form-urlencoded';
  const isEmpty = declaresNoBody(request);
  if (type !== 'application/json' && !isForm && !(isEmpty && type === undefined)) throw new Fault('unsupported_media_type');
  if (isEmpty) return {};
  const text = await readText(request);
  if (!isForm) return parseObject(text);
  requireFewItems('form fields', text, '&');
  return fieldsOf(text);
}

function declaresNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

/** Returns whether the body of a request is empty. Waits for the first bytes of one that is sent in chunks, and consumes none. */
export async function isBodyEmpty(request: IncomingMessage): Promise<boolean> {
  if (request.headers['transfer-encoding'] === undefined) return declaresNoBody(request);
  await new Promise<void>((resolve) => {
    for (const event of ['readable', 'end', 'error', 'close']) request.once(event, () => resolve());
    if (request.destroyed) resolve();
  });
  // The reader of the body reports an aborted request.
  return request.readableLength === 0 && !request.errored;
}

/**
 * Returns the body of a request as text, without a byte order mark.
 * @throws Fault too_large, bad_request; unsupported_media_type for a body that is compressed or not UTF-8
 */
export async function readText(request: IncomingMessage): Promise<string> {
  requirePlainText(request);
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
    request.on('end', () => resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString().replace(/^\uFEFF/, '')));
    request.on('error', (cause) => reject(new Fault('bad_request', { message: 'The body is incomplete.', cause })));
  });
}

/** @throws Fault unsupported_media_type that names what the service does not decode */
function requirePlainText({ headers }: IncomingMessage): void {
  const coding = headers['content-encoding'] ?? 'identity';
  if (!/^(?:identity)?$/i.test(coding)) {
    const message = `The body has the Content-Encoding ${coding.slice(0, 40)}, which is not supported.`;
    throw new Fault('unsupported_media_type', { message, hint: 'Send the body uncompressed, without Content-Encoding.' });
  }
  const [, charset = 'utf-8'] = /;\s*charset="?([^\s";]*)/i.exec(headers['content-type'] ?? '') ?? [];
  if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) {
    const message = `The body is in ${charset.slice(0, 40)}, which is not supported.`;
    throw new Fault('unsupported_media_type', { message, hint: 'Send the body in UTF-8.' });
  }
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
