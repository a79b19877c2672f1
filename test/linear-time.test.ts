import { parse } from 'cookie';
import { describe, expect, test } from 'vitest';
import { createCookieJar } from '../cli/cookies.ts';
import { parseSpf } from '../cli/doctor/spf.ts';
import { printable } from '../cli/printable.ts';
import { oneLine } from '../contract/check.ts';
import { hasProofText } from '../contract/domain-proof.ts';
import { fromNameFault, isThisMachine, logoUrlFault, nameFault, normalEmail, normalHost, redirectUriFault } from '../contract/rules.ts';
import { networkOf } from '../server/http/client-address.ts';
import { bearerOf } from '../server/http/identity.ts';
import { isLoopbackHost } from '../server/http/loopback.ts';
import { fieldsOf } from '../server/http/reading.ts';
import { headerText } from '../server/mail/mime.ts';
import { deviceLabelOf } from '../server/signin/device-label.ts';
import { isRedirectOf, readForwardUrl } from '../server/signin/redirects.ts';
import { rootDomainOf } from '../server/websites/domains.ts';
import { searchDocs } from '../templates/docs.ts';
import { type GrowingText, growingCookies, growingFields, growingHeaders } from './growing-input.ts';

/** The largest text that anything outside can send is 64 KB. */
const SIZE = 16 * 1024;
const TIMES = 4;
/** Linear time gives 4, quadratic 16. */
const MAX_RATIO = 8;
/** Below this there is nothing to compare. */
const SPARE_MS = 4;

const repeat = (what: string, part: string, start = '', end = ''): GrowingText => [
  what,
  (size) => start + part.repeat(Math.ceil(size / part.length)) + end,
];
/** What slows a parser of plain text: runs of what it skips or counts, with something at the end that makes it go back. */
const texts: GrowingText[] = [
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
const headers = growingHeaders.filter(({ header }) => header === 'Accept').map(({ what, text }): GrowingText => [what, text]);

const swallow = (run: (text: string) => unknown) => (text: string) => {
  try {
    return run(text);
  } catch {
    return null;
  }
};

const parsers: [name: string, run: (text: string) => unknown, texts: GrowingText[]][] = [
  ['a query or form', fieldsOf, growingFields],
  ['cookies', parse, growingCookies],
  ['a TXT record of a proof', (text) => hasProofText([text], 'x'.repeat(32)), texts],
  ['many TXT records of a proof', (text) => hasProofText(text.match(/.{1,200}/gs) ?? [], 'x'.repeat(32)), texts],
  ['an address', normalEmail, texts],
  ['a host', normalHost, texts],
  ['a domain to register', rootDomainOf, texts],
  ['a forward_url', (text) => readForwardUrl(text, true), texts],
  ['a redirect_uri', (text) => isRedirectOf({ id: 'x', redirectUris: ['/callback'], kind: 'native' }, text), texts],
  ['a redirect_uri of an application', redirectUriFault, texts],
  ['a name', (text) => [nameFault(text), fromNameFault(text)], texts],
  ['a logo', logoUrlFault, texts],
  ['a host of this machine', (text) => [isThisMachine(text), isLoopbackHost(text)], texts],
  ['an address of a proxy', networkOf, [...texts, ...headers]],
  ['Authorization', bearerOf, [...texts, ...headers]],
  ['User-Agent', deviceLabelOf, [...texts, ...headers]],
  ['the header of a mail', headerText, texts],
  ['text from the network', oneLine, texts],
  ['text for a terminal', printable, texts],
  ['a search of the documentation', (text) => searchDocs(text, { origin: 'https://auth.example' }), texts.slice(0, 8)],
  ['an SPF record', parseSpf, texts],
  ['Set-Cookie', (text) => createCookieJar().keep(new Headers([['Set-Cookie', text.replace(/[^\x20-\x7e]/g, '')]])), texts],
];

describe.each(parsers)('the time for %s grows at most linearly', (_name, run, all) => {
  test.each(all)('%s', async (_what, make) => {
    const parse = swallow(run);
    const [small, large] = [make(SIZE), make(TIMES * SIZE)];
    await parse(small);
    expect(await leastCpu(parse, large)).toBeLessThan(MAX_RATIO * (await leastCpu(parse, small)) + SPARE_MS);
  });
});

/** CPU time of one call in ms, the least of several: other load on the machine adds to some of them. */
async function leastCpu(run: (text: string) => unknown, text: string): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round++) {
    const before = process.cpuUsage();
    await run(text);
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1000);
  }
  return least;
}
