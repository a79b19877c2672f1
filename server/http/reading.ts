import type { IncomingMessage } from 'node:http';
import { Fault } from '../../contract/errors.ts';
import { requireFewItems } from './input-items.ts';

const MAX_BYTES = 16 * 1024;
const NUL = /\0|\\u0000/;

/**
 * The query of a request; a parameter that comes twice is an array, which no schema of a single value takes.
 * @throws Fault bad_request for a NUL character, which PostgreSQL cannot hold
 */
export function queryOf(request: IncomingMessage): Record<string, string | string[]> {
  const url = request.url ?? '';
  const at = url.indexOf('?');
  return at < 0 ? {} : fieldsOf(url.slice(at + 1));
}

/**
 * The JSON object (or, where allowed, the form) of a request's body; an absent body is an empty object.
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
  if (!isForm) return objectOf(text);
  requireFewItems('form fields', text, '&');
  return fieldsOf(text);
}

async function readText(request: IncomingMessage): Promise<string> {
  if (Number(request.headers['content-length']) > MAX_BYTES) throw new Fault('too_large');
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) {
        request.pause();
        reject(new Fault('too_large'));
      } else chunks.push(chunk);
    });
    request.on('end', () => resolve((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString()));
    request.on('error', (cause) => reject(new Fault('bad_request', { message: 'The body ended early.', cause })));
  });
}

function objectOf(text: string): Record<string, unknown> {
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
 * Returns the fields of a query or form; one that is repeated is an array. Takes time proportional to the length of `encoded`.
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
