import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openDns } from './dns.ts';
import { checkReverseName, dmarcRecordsIn, evaluateDkim, evaluateDmarc, findDmarc, parseDmarc, policyOf } from './mail.ts';

const rsa = (modulusLength: number) =>
  generateKeyPairSync('rsa', { modulusLength }).publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const key = rsa(2048);
const asPkcs1 = (spki: string) =>
  createPublicKey({ key: Buffer.from(spki, 'base64'), format: 'der', type: 'spki' })
    .export({ format: 'der', type: 'pkcs1' })
    .toString('base64');

const signer = { domain: 'mail.example', selector: 's1', publicKey: key };

describe('valid DKIM records', () => {
  test.each([
    ['as Google writes it', `v=DKIM1; k=rsa; p=${key}`],
    ['without v and k', `p=${key}`],
    ['without spaces', `v=DKIM1;k=rsa;p=${key};`],
    ['spaces within the key', `v=DKIM1; k=rsa; p=${key.replace(/(.{60})/g, '$1 ')}`],
    ['every tag', `v=DKIM1; h=sha1:sha256; k=rsa; n=a note; s=email; t=s; p=${key}`],
    ['any service', `v=DKIM1; s=*; p=${key}`],
    ['an RSAPublicKey, as RFC 6376 defines it', `v=DKIM1; p=${asPkcs1(key)}`],
    ['unknown tags', `v=DKIM1; g=*; x=1; p=${key}`],
  ])('%s', (_, text) => expect(evaluateDkim(signer, [text])).toMatchObject({ ok: true, fix: '' }));
});

describe('invalid DKIM records', () => {
  test.each([
    ['revoked', 'v=DKIM1; k=rsa; p=', 'not the one'],
    ['without a key', 'v=DKIM1; k=rsa', 'not the one'],
    ['cut', `v=DKIM1; p=${key.slice(0, 200)}`, 'cut'],
    ['with quotes', `v=DKIM1; p="${key}"`, 'cut'],
    ['v later', `k=rsa; v=DKIM1; p=${key}`, 'not for a key'],
    ['another v', `v=DKIM2; p=${key}`, 'not for a key'],
    ['DMARC', 'v=DMARC1; p=none', 'not for a key'],
    ['no tags', 'hello', 'not for a key'],
    ['twice', `p=${key}; p=${key}`, 'not for a key'],
    ['sha1 alone', `v=DKIM1; h=sha1; p=${key}`, 'not for a key'],
    ['for another service', `v=DKIM1; s=tlsrpt; p=${key}`, 'not for a key'],
    ['another key type', `v=DKIM1; k=ed25519; p=${key}`, 'not for a key'],
    ['empty', '', 'not for a key'],
  ])('%s', (_, text, words) => {
    const { ok, detail, fix } = evaluateDkim(signer, [text]);
    expect([ok, detail, fix]).toEqual([false, expect.stringContaining(words), expect.stringContaining(`v=DKIM1; k=rsa; p=${key}`)]);
  });

  test('short', () => {
    const publicKey = rsa(768);
    expect(evaluateDkim({ ...signer, publicKey }, [`p=${publicKey}`])).toMatchObject({
      ok: false,
      detail: expect.stringContaining('768 bits'),
    });
  });
});

describe('the record of the service', () => {
  test.each<[string, string[], boolean, RegExp, RegExp]>([
    ['the right key', [`v=DKIM1; k=rsa; p=${key}`], true, /is the one/, /^$/],
    ['t=y', [`v=DKIM1; t=y; p=${key}`], true, /is the one/, /t=y/],
    ['none', [], false, /no key at s1\._domainkey\.mail\.example/, new RegExp(`p=${key.slice(0, 20).replace(/[+]/g, '\\+')}`)],
    ['two', [`p=${key}`, `p=${key}`], false, /2 TXT records/, /Keep one/],
    ['another key', [`v=DKIM1; p=${rsa(1024)}`], false, /not the one/, /DKIM_KEY/],
  ])('%s', (_, texts, ok, detail, fix) => {
    const finding = evaluateDkim(signer, texts);
    expect(finding.ok).toBe(ok);
    expect(finding.detail).toMatch(detail);
    expect(finding.fix).toMatch(fix);
  });

  test('a key of 1024 bits passes with advice', () => {
    const publicKey = rsa(1024);
    expect(evaluateDkim({ ...signer, publicKey }, [`p=${publicKey}`])).toMatchObject({ ok: true, fix: expect.stringContaining('2048') });
  });
});

describe('records in use', () => {
  test.each([
    ['v=DMARC1; p=reject; rua=mailto:mailauth-reports@google.com', 'reject', false],
    ['v=DMARC1; p=none; sp=quarantine; rua=mailto:mailauth-reports@google.com', 'none', false],
    ['v=DMARC1;p=quarantine;pct=100;fo=1;ruf=mailto:d@example.com!10m,mailto:e@example.org;ri=86400', 'quarantine', false],
    ['v=DMARC1; p=reject; adkim=s; aspf=s;', 'reject', true],
    ['v=DMARC1 ; p = none ;', 'none', false],
    ['v = DMARC1; p=none', 'none', false],
    ['v=DMARC1; p=REJECT; np=reject', 'reject', false],
  ])('%s', (text, policy, strictDkim) => {
    expect(dmarcRecordsIn([text])).toEqual([text]);
    expect(parseDmarc(text)).toEqual({ policy, strictDkim });
  });

  test('sp= applies to a record above the sender', () => {
    expect(parseDmarc('v=DMARC1; p=none; sp=reject', true)).toMatchObject({ policy: 'reject' });
    expect(parseDmarc('v=DMARC1; p=quarantine', true)).toMatchObject({ policy: 'quarantine' });
  });
});

describe('invalid DMARC records', () => {
  test.each([
    ['v=DMARC1;', 'p='],
    ['v=DMARC1; rua=mailto:a@example.com', 'p='],
    ['v=DMARC1; p=monitor', 'monitor'],
    ['v=DMARC1; p=none; sp=never', 'sp='],
    ['v=DMARC1; p=none; adkim=relaxed', 'adkim='],
    ['v=DMARC1; p=none; pct=101', 'pct='],
    ['v=DMARC1; p=none; pct=all', 'pct='],
    ['v=DMARC1; p=none, rua=mailto:a@example.com', 'p='],
    ['v=DMARC1; p=none; p=reject', 'list of tags'],
    ['v=DMARC1; none', 'list of tags'],
  ])('%s', (text, word) => expect(parseDmarc(text)).toEqual({ error: expect.stringContaining(word) }));

  test.each(['v=DMARC1 p=none', 'v=dmarc1; p=none', 'p=none; v=DMARC1', 'v=DMARC2; p=none', '"v=DMARC1; p=none"', 'v=spf1 -all'])(
    '"%s" is not a DMARC record',
    (text) => expect(dmarcRecordsIn([text])).toEqual([]),
  );
});

test('is found at the name itself, else at the registrable domain', async () => {
  const zone: Record<string, string[]> = {
    '_dmarc.d.example': ['v=DMARC1; p=none; sp=reject'],
    '_dmarc.own.d.example': ['v=DMARC1; p=quarantine'],
  };
  const find = (name: string) => findDmarc(name, 'd.example', async (asked) => zone[asked] ?? []);
  expect(policyOf(await find('own.d.example'))?.policy).toBe('quarantine');
  expect(policyOf(await find('mail.d.example'))?.policy).toBe('reject');
  expect(policyOf(await find('d.example'))?.policy).toBe('none');
});

test.each<[string[], boolean, RegExp, RegExp]>([
  [['v=DMARC1; p=reject', 'else'], true, /p=reject/, /^$/],
  [['v=DMARC1; p=none'], true, /p=none/, /quarantine/],
  [[], false, /no DMARC record at _dmarc\.d\.example/, /v=DMARC1; p=none/],
  [['v=DMARC1 p=none'], false, /does not begin/, /v=DMARC1; p=none/],
  [['v=DMARC1; p=none', 'v=DMARC1; p=reject'], false, /2 DMARC/, /Keep one/],
  [['v=DMARC1; p=x\u001b[31m'], false, /unknown p=: x \[31m\./, /Correct/],
])('the finding for %j', (texts, ok, detail, fix) => {
  const finding = evaluateDmarc({ name: '_dmarc.d.example', isInherited: false, texts });
  expect(finding.ok).toBe(ok);
  expect(finding.detail).toMatch(detail);
  expect(finding.fix).toMatch(fix);
});

test('the public address of a mail server needs a name that leads back to it', async () => {
  const check = (url: string | null, addresses: Record<string, string[]>, names: string[]) =>
    checkReverseName(
      url,
      { ...openDns({ servers: null, isAllowedAddress: null }), addresses: async (name) => addresses[name] ?? [], names: async () => names },
      (address) => !address.startsWith('10.'),
    );
  const server = { 'mx.example': ['203.0.114.5'] };
  expect((await check('smtp://mx.example:587', server, ['mx.example'])).ok).toBe(true);
  expect(await check('smtp://mx.example:587', server, [])).toMatchObject({ ok: false, detail: expect.stringContaining('no PTR record') });
  expect(await check('smtp://mx.example:587', server, ['other.example'])).toMatchObject({
    ok: false,
    fix: expect.stringContaining('other.example with 203.0.114.5'),
  });
  expect((await check('smtp://203.0.114.5:25', server, ['mx.example'])).ok).toBe(true);
  expect((await check('smtp://mx.example', { 'mx.example': ['10.0.0.7'] }, [])).ok).toBeNull();
  expect((await check(null, {}, [])).ok).toBeNull();
});
