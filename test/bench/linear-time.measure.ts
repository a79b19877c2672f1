/**
 * `npm run measurements`: each parser of untrusted text takes at most eight times the CPU time for a text four times as long.
 */
import { parse } from 'cookie';
import { describe, expect, test } from 'vitest';
import { printable } from '../../cli/terminal.ts';
import { normalEmail, readEmail } from '../../contract/emails.ts';
import { readEntered } from '../../contract/entered.ts';
import { redirectUriFault } from '../../contract/redirect-uris.ts';
import { fromNameFault, nameFault } from '../../contract/rules.ts';
import { hasProofText, isThisMachine, logoUrlFault, normalHost } from '../../contract/urls.ts';
import { oneLine } from '../../diagnostics/check.ts';
import { parseSetCookies } from '../../diagnostics/request.ts';
import { parseSpf } from '../../diagnostics/spf.ts';
import { searchDocs } from '../../docs/search.ts';
import { deviceLabelOf } from '../../server/developers/browser.ts';
import { headerText } from '../../server/mail/composition.ts';
import { isLoopbackHostHeader, networkOf } from '../../server/platform/http/client-address.ts';
import { bearerOf, fieldsOf } from '../../server/platform/http/reading.ts';
import { isRedirectOf, readForwardUrl, withToken } from '../../server/signin/destination.ts';
import { readOriginalRequest } from '../../server/signin/forward-auth/original-request.ts';
import { rootDomainOf } from '../../server/websites/domains.ts';
import { type GrowingText, growingCookies, growingFields, growingHeaders } from '../support/growing-input.ts';

/** Texts from outside have at most 64 KB. */
const SIZE = 16 * 1024;
const TIMES = 4;
/** Linear time has the ratio 4, quadratic time 16. */
const MAX_RATIO = 8;
/** Shorter times cannot be compared. */
const TOLERANCE_MS = 4;
/** Other load and garbage collection only add to a time, so the minimum of several rounds counts. Quadratic time fails every round. */
const MIN_ROUNDS = 4;
const MAX_ROUNDS = 100;

const repeat = (what: string, part: string, start = '', end = ''): GrowingText => [
  what,
  (size) => start + part.repeat(Math.ceil(size / part.length)) + end,
];
/** Texts that slow down parsers: repetitions of what they skip or count, with an end that causes backtracking. */
const growingTexts: GrowingText[] = [
  ...['a', '1', '.', ' ', '\t', '"', '%', '%41', '-', '@', ':', '/', '\n', '<', '\\', 'a.', '1.', 'é', '=', ';', ','].map((part) =>
    repeat(`a run of ${JSON.stringify(part)}`, part, 'x', 'x'),
  ),
  repeat('a host', 'a.', 'https://', '/'),
  repeat('an address', 'a.', '', '@b.example'),
  repeat('spaces at both ends', ' '),
  repeat('an SPF record', ' include:a.', 'v=spf1 '),
  repeat('macros', '%{a', 'v=spf1 exists:'),
  repeat('a bearer token', 'a', 'Bearer ', ' '),
  repeat('user agent', 'Version/1.', 'Mozilla/5.0 '),
];
/** A parser of untrusted text, which may throw. */
type Parser = [name: string, run: (text: string) => unknown, texts: GrowingText[]];

const ignoringErrors = (run: (text: string) => unknown) => (text: string) => {
  try {
    return run(text);
  } catch {
    return null;
  }
};

async function cpuMsOf(run: (text: string) => unknown, text: string): Promise<number> {
  const before = process.cpuUsage();
  await run(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const headers = growingHeaders.filter(({ header }) => header === 'Accept').map(({ what, text }): GrowingText => [what, text]);

const readPath = (path: string) => readOriginalRequest('notes.example', { headers: { 'x-forwarded-uri': path }, method: 'GET' }, true);

/** Headers hold no other characters. */
const inHeader = (text: string) => text.replace(/[^\x20-\x7e]/g, '');

const parsers: Parser[] = [
  ['a query or form', fieldsOf, growingFields],
  ['cookies', parse, growingCookies],
  ['a TXT record of a proof', (text) => hasProofText([text], 'x'.repeat(32)), growingTexts],
  ['many TXT records of a proof', (text) => hasProofText(text.match(/.{1,200}/gs) ?? [], 'x'.repeat(32)), growingTexts],
  ['an address', normalEmail, growingTexts],
  ['an address as people enter it', readEmail, growingTexts],
  ['a code as people enter it', readEntered, growingTexts],
  ['a host', normalHost, growingTexts],
  ['a domain to register', rootDomainOf, growingTexts],
  ['a forward_url', (text) => readForwardUrl(text, true), growingTexts],
  ['a redirect to a forward_url', (text) => withToken(`https://shop.example/${text}`, 'T'), growingTexts],
  ['a path of forward authentication', (text) => readPath(`/${text}`), growingTexts],
  ['a redirect_uri', (text) => isRedirectOf({ id: 'x', redirectUris: ['/callback'], kind: 'native' }, text), growingTexts],
  ['a redirect_uri of an application', redirectUriFault, growingTexts],
  ['a name', (text) => [nameFault(text), fromNameFault(text)], growingTexts],
  ['a logo', logoUrlFault, growingTexts],
  ['a host of this machine', (text) => [isThisMachine(text), isLoopbackHostHeader(text)], growingTexts],
  ['an address of a proxy', networkOf, [...growingTexts, ...headers]],
  ['Authorization', bearerOf, [...growingTexts, ...headers]],
  ['User-Agent', deviceLabelOf, [...growingTexts, ...headers]],
  ['the header of an email', headerText, growingTexts],
  ['text for a terminal', printable, growingTexts],
  ['an SPF record', parseSpf, growingTexts],
  ['Set-Cookie', (text) => parseSetCookies([inHeader(text)]), growingTexts],
  ['text from the network', oneLine, growingTexts],
  ['a search of the documentation', (text) => searchDocs(text, { origin: 'https://auth.example' }), growingTexts.slice(0, 8)],
];

describe.each(parsers)('the time for %s grows at most linearly', (_name, run, texts) => {
  test.each(texts)('%s', async (_what, make) => {
    const parse = ignoringErrors(run);
    const [small, large] = [make(SIZE), make(TIMES * SIZE)];
    await parse(small);
    let [smallMs, largeMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    const isLinear = () => largeMs < MAX_RATIO * smallMs + TOLERANCE_MS;
    for (let round = 0; round < MAX_ROUNDS && (round < MIN_ROUNDS || !isLinear()); round++) {
      smallMs = Math.min(smallMs, await cpuMsOf(parse, small));
      largeMs = Math.min(largeMs, await cpuMsOf(parse, large));
    }
    expect(largeMs).toBeLessThan(MAX_RATIO * smallMs + TOLERANCE_MS);
  });
});
