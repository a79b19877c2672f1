import { type CallSpec, calls } from '../../contract/calls.ts';
import type { Client } from './client.ts';
import * as growing from './growing-input.ts';

/** A request with an input of the maximum size, or a fraction of it. */
export type HostileRequest = { what: string; method: string; path: string; headers: Record<string, string>; body?: string };

/** The hostile requests of one kind to one target. */
export type Probe = { target: string; kind: InputKind; requests: HostileRequest[] };

export const inputKinds = ['query', 'JSON', 'form', 'multipart', 'path', 'cookies', 'headers', 'MCP'] as const;
export type InputKind = (typeof inputKinds)[number];

/** Targets that are not in the contract. */
const OTHERS: [method: string, path: string][] = [
  ['GET', '/auth/link'],
  ['GET', '/auth'],
  ['GET', '/'],
  ['GET', '/dashboard/settings/preview'],
  ['GET', '/docs/overview'],
  ['GET', '/llms.txt'],
  ['GET', '/openapi.json'],
  ['GET', '/assets/none.js'],
  ['GET', '/no-such-page'],
  ['GET', '/healthz'],
  ['GET', '/readyz'],
  ['GET', '/metrics'],
  ['GET', '/demo/callback'],
  ['GET', '/dev/inbox/messages.json'],
  ['PUT', '/objects/uploads/0198c0de-0000-7000-8000-000000000000'],
  ['GET', '/objects/uploads/0198c0de-0000-7000-8000-000000000000'],
  ['POST', '/mcp'],
];
const ID = '0198c0de-0000-7000-8000-000000000000';

/**
 * Returns hostile requests of each kind to every target.
 * @param fraction of the maximum size, up to 1
 */
export function probesOf(fraction: number): Probe[] {
  const ofContract = Object.values(calls).flatMap((route: CallSpec) => probesOfRoute(route, fraction));
  const ofOthers = OTHERS.flatMap(([method, path]) => [
    ...probesOfAnyTarget(method, path, fraction),
    probe(`${method} ${path}`, 'query', growing.growingFields, fraction * growing.MAX_HEADER_BYTES, (text) => ({
      method,
      path: `${path}?${text}`,
    })),
  ]);
  const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-06-18' };
  const ofMcp = probe('POST /mcp', 'MCP', growing.growingMessages, fraction * growing.MAX_MESSAGE_BYTES, (body) => ({
    method: 'POST',
    path: '/mcp',
    headers: json,
    body,
  }));
  const paths: growing.GrowingText[] = ['a', '/', '%41', '%', 'a/', '.', '..%2f', ';'].map((part) => [
    `of ${part}`,
    (size) => part.repeat(Math.floor(size / part.length)),
  ]);
  const ofPaths = probe('GET /…', 'path', paths, fraction * growing.MAX_HEADER_BYTES, (text) => ({ method: 'GET', path: `/${text}` }));
  return [...ofContract, ...ofOthers, ofPaths, ofMcp];
}

function probesOfRoute({ method, path: pattern, input, oauth }: CallSpec, fraction: number): Probe[] {
  const path = pattern.replace('{id}', ID).replace(/\{\w+\}/, 'en');
  const target = `${method} ${pattern}`;
  const fields = Object.keys((input as { shape?: object }).shape ?? {});
  const body = fraction * growing.MAX_BODY_BYTES;
  const found = probesOfAnyTarget(method, path, fraction, target);
  if (pattern !== path) {
    const values: growing.GrowingText[] = ['a', '%41', '%', 'a.', '-'].map((part) => [
      `of ${part}`,
      (size) => part.repeat(size / part.length),
    ]);
    const at = pattern.replace(/\{\w+\}.*/, '');
    const end = pattern.replace(/.*\}/, '');
    found.push(
      probe(target, 'path', values, fraction * growing.MAX_HEADER_BYTES, (text) => ({
        method,
        path: at + text + end,
        headers: { 'Content-Type': 'application/json' },
        ...(method === 'POST' || method === 'PUT' ? { body: '{}' } : {}),
      })),
    );
  }
  if (method === 'GET' || method === 'DELETE') {
    const size = fraction * growing.MAX_HEADER_BYTES;
    return [...found, probe(target, 'query', growing.growingFields, size, (text) => ({ method, path: `${path}?${text}` }))];
  }
  const typed = (type: string) => (text: string) => ({ method, path, headers: { 'Content-Type': type }, body: text });
  found.push(probe(target, 'JSON', growing.growingJson(fields), body, typed('application/json')));
  if (oauth) found.push(probe(target, 'form', growing.growingFields, body, typed('application/x-www-form-urlencoded')));
  const parts: growing.GrowingText[] = [['parts', (size) => '--x\r\n\r\n\r\n'.repeat(size / 10)]];
  found.push(probe(target, 'multipart', parts, body, typed('multipart/form-data; boundary=x')));
  return found;
}

function probesOfAnyTarget(method: string, path: string, fraction: number, target = `${method} ${path}`): Probe[] {
  const size = fraction * growing.MAX_HEADER_BYTES;
  const hasBody = method === 'POST' || method === 'PUT';
  const own: Record<string, string> = hasBody ? { 'Content-Type': 'application/json' } : {};
  const body = hasBody ? { body: '{}' } : {};
  const headers = growing.growingHeaders.map(({ header, what, text }) => ({
    what: `${header} of ${what}`,
    method,
    path,
    headers: { ...own, [header]: text(size) },
    ...body,
  }));
  return [
    probe(target, 'cookies', growing.growingCookies, size, (Cookie) => ({ method, path, headers: { ...own, Cookie }, ...body })),
    { target, kind: 'headers', requests: headers },
  ];
}

function probe(
  target: string,
  kind: InputKind,
  texts: growing.GrowingText[],
  size: number,
  make: (text: string) => Omit<HostileRequest, 'what' | 'headers'> & { headers?: Record<string, string> },
): Probe {
  return { target, kind, requests: texts.map(([what, text]) => ({ headers: {}, ...make(text(Math.floor(size))), what })) };
}

/** Sends a request with `client`, or with `anonymous` if it would end the session. @returns the status */
export async function sendHostile(client: Client, anonymous: Client, request: HostileRequest): Promise<number> {
  const endsSession = /logout|sign-out-everywhere/.test(request.path);
  const { path, method, headers, body } = request;
  const { status } = await (endsSession ? anonymous : client).send(path, { method, headers, body });
  return status;
}

/** Returns the bytes of the input of a request. */
export function sizeOf({ path, headers, body = '' }: HostileRequest): number {
  return path.length + Object.values(headers).join().length + Buffer.byteLength(body);
}
