/** Hostile texts of any length, by part of a request. Each may slow down a parser. */

/** A text of about `size` characters. */
export type GrowingText = [what: string, text: (size: number) => string];

const repeated = (part: string, size: number) => part.repeat(Math.ceil(Math.max(0, size) / part.length)).slice(0, Math.max(0, size));
const ofPart = (what: string, part: string, start = '', end = ''): GrowingText => [
  what,
  (size) => start + repeated(part, Math.max(1, size - start.length - end.length)) + end,
];

/** Query strings and forms. */
export const growingFields: GrowingText[] = [
  ofPart('one name', 'a&'),
  ofPart('one name and value', 'a=1&'),
  [
    'many names',
    (size) =>
      Array.from({ length: Math.floor(size / 7) }, (_, at) => `f${at}=1`)
        .join('&')
        .slice(0, size),
  ],
  ofPart('empty fields', '&'),
  ofPart('fifty long fields', `a=${'x'.repeat(300)}&`),
  ofPart('one long value', 'x', 'a='),
  ofPart('escapes', '%41', 'token='),
  ofPart('broken escapes', '%', 'token='),
  ofPart('escaped white space', '%20', 'email='),
  ofPart('plus signs', '+', 'email='),
  ofPart('an address', 'a.', 'email=', '@b.example'),
  ofPart('a host of many labels', 'a.', 'forward_url=https://', '/'),
  ofPart('a host of escapes', '%25C3%25A9', 'forward_url=https://'),
  ofPart('brackets', '[a]', 'a', '=1'),
];

/** Returns JSON bodies. @param fields the names of the call's fields */
export function growingJson(fields: readonly string[]): GrowingText[] {
  const share = (size: number, field: string) => Math.floor(size / Math.max(1, fields.length)) - field.length - 6;
  const object = (value: (size: number) => unknown) => (size: number) =>
    JSON.stringify(Object.fromEntries(fields.map((field) => [field, value(share(size, field))])));
  return [
    ['known fields of one letter', object((size) => repeated('a', size))],
    ['known fields of spaces', object((size) => `x${repeated(' ', size - 2)}x`)],
    ['known fields of dots', object((size) => repeated('a.', size))],
    ['known fields of URLs', object((size) => `https://${repeated('a.', size - 8)}`)],
    ['known fields of many characters', object((size) => characters(size))],
    ['known fields of arrays', object((size) => Array(Math.max(1, Math.floor(size / 2))).fill(1))],
    [
      'known fields of objects',
      (size) => `{${fields.map((field) => `"${field}":${nested('{"a":', '1', '}', share(size, field))}`).join()}}`,
    ],
    ['many fields', (size) => `{${Array.from({ length: Math.floor(size / 10) }, (_, at) => `"f${at}":1`).join()}}`.slice(0, size)],
    ['one repeated field', (size) => `{${repeated('"email":1,', size - 12)}"z":1}`],
    ['prototypes', (size) => `{${repeated('"__proto__":{},', size - 8)}"a":1}`],
    ['nested arrays', (size) => `{"a":${nested('[', '', ']', size - 8)}}`],
    ['unclosed arrays', (size) => repeated('[', size)],
    ['escapes', (size) => `{"a":"${repeated('\\u0041', size - 8)}"}`],
  ];
}

export const growingCookies: GrowingText[] = [
  ofPart('one name', 'a=1; '),
  ofPart('separators', ';'),
  ofPart('one long value', 'x', 'sid='),
  ofPart('escapes', '%41', 'sid='),
  ofPart('equals signs', '='),
  ofPart('a list of accounts', '{"email":"a","key":"b","timestamp":1},', 'remembered_accounts=['),
  ofPart('nested accounts', '[', 'remembered_accounts='),
];

/** Headers that the service or one of its libraries parses. */
const PARSED_HEADERS = [
  'Accept',
  'Accept-Encoding',
  'Accept-Language',
  'Authorization',
  'Cache-Control',
  'Content-Type',
  'Forwarded',
  'Host',
  'Idempotency-Key',
  'If-Modified-Since',
  'If-None-Match',
  'Origin',
  'Purpose',
  'Range',
  'Sec-Fetch-Site',
  'User-Agent',
  'X-Forwarded-For',
] as const;
const headerParts: GrowingText[] = [
  ofPart('commas', ','),
  ofPart('entries', 'a,'),
  ofPart('parameters', ';q=0', '*/*'),
  ofPart('open quotes', ',a', '"'),
  ofPart('quotes', '"'),
  ofPart('spaces', ' ', 'Bearer ', 'x'),
  ofPart('tabs', '\t', 'bytes=', 'x'),
  ofPart('ranges', '0-0,', 'bytes='),
  ofPart('digits', '1', 'x:', 'x'),
  ofPart('versions', '1.', 'Mozilla/5.0 (Version/', ') Safari/'),
  ofPart('one letter', 'a'),
];
export const growingHeaders: { header: string; what: string; text: (size: number) => string }[] = PARSED_HEADERS.flatMap((header) =>
  headerParts.map(([what, text]) => ({ header, what, text })),
);

/** MCP messages (JSON-RPC 2.0). */
export const growingMessages: GrowingText[] = [
  ['a search', (size) => call('search_docs', { query: repeated('sign in ', size) })],
  ['a search for spaces', (size) => call('search_docs', { query: `a${repeated(' ', size)}b` })],
  ['a website to check', (size) => call('check_integration', { domain: repeated('a.', size), url: `https://${repeated('a.', size)}` })],
  ['a token', (size) => call('verify_token', { token: repeated('a', size) })],
  ['an unknown tool', (size) => call(repeated('a', size), {})],
  [
    'many arguments',
    (size) => call('list_sites', Object.fromEntries(Array.from({ length: Math.floor(size / 10) }, (_, at) => [`f${at}`, 1]))),
  ],
  ['nested arguments', (size) => call('list_sites', {}).replace('{}', nested('{"a":', '1', '}', size))],
  ['a resource', (size) => message('resources/read', { uri: `emailauth://docs/${repeated('%41', size)}` })],
  ['a resource of many parts', (size) => message('resources/read', { uri: `emailauth://${repeated('a/', size)}` })],
  ['a host of many characters', (size) => message('resources/read', { uri: `emailauth://${characters(size)}/a` })],
  [
    'a completion',
    (size) =>
      message('completion/complete', {
        ref: { type: 'ref/resource', uri: 'emailauth://docs/{slug}' },
        argument: { name: 'slug', value: repeated('a', size) },
      }),
  ],
  [
    'a prompt',
    (size) =>
      message('prompts/get', { name: 'add-email-sign-in', arguments: { framework: repeated('a', size), domain: repeated('a.', size) } }),
  ],
  ['an unknown method', (size) => message(repeated('a/', size), {})],
  ['a batch', (size) => `[${repeated(`${message('ping', {})},`, size - message('ping', {}).length - 2).replace(/[^}]*$/, '')}]`],
  ['nested arrays', (size) => nested('[', '', ']', size)],
  ['unclosed arrays', (size) => repeated('[', size)],
];

/** Maximum of the request line and headers together, less the headers that every request has. */
export const MAX_HEADER_BYTES = 15 * 1024;
export const MAX_BODY_BYTES = 16 * 1024;
export const MAX_MESSAGE_BYTES = 64 * 1024;

function nested(open: string, middle: string, close: string, size: number): string {
  const depth = Math.max(1, Math.floor(size / (open.length + close.length)));
  return open.repeat(depth) + middle + close.repeat(depth);
}

/** Returns a text of many different characters. */
function characters(bytes: number): string {
  return String.fromCodePoint(...Array.from({ length: Math.max(1, Math.floor(bytes / 3)) }, (_, at) => 0x4e00 + (at % 20_000)));
}

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const call = (name: string, args: object) => message('tools/call', { name, arguments: args });
