import { describe, expect, test } from 'vitest';
import { dmarcRecordsIn, evaluateDmarc, findDmarc, parseDmarc, policyOf } from './dmarc.ts';

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

describe('invalid records', () => {
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
