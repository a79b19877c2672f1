import { describe, expect, test } from 'vitest';
import { checkSpf, parseSpf, spfRecordsIn } from './spf.ts';

describe('records in use are valid', () => {
  test.each([
    'v=spf1 include:_spf.google.com ~all',
    'v=spf1 include:spf.protection.outlook.com -all',
    'v=spf1 include:_spf.google.com include:amazonses.com include:mailgun.org ip4:203.0.113.0/24 ip6:2001:db8::/32 ~all',
    'v=spf1 a mx ptr ?all',
    'v=spf1 +a +mx +ip4:192.0.2.7 -all',
    'v=spf1 a/24 mx/24//64 a:mail.example.com/28 mx:example.org//48 -all',
    'v=spf1 ip4:192.0.2.0/0 ip6:::ffff:192.0.2.1/96 -all',
    'V=SPF1 INCLUDE:_SPF.GOOGLE.COM ~ALL',
    'v=spf1  include:sendgrid.net   ~all ',
    'v=spf1 redirect=_spf.mail.ru',
    'v=spf1 -all exp=explain._spf.%{d}',
    'v=spf1 exists:%{i}._spf.%{d2} include:%{ir}.%{v}._spf.%{d} -all',
    'v=spf1 exists:%{l1r-}.lp._spf.%{d2} -all',
    'v=spf1 include:spf1.example.net. unknown=value moo.cow-far_out=man:dog/cat -all',
    'v=spf1 include:%{d}.4f.spf-protect.agari.com -all',
    'v=spf1 -all',
  ])('%s', (text) => {
    expect(spfRecordsIn([text])).toEqual([text]);
    const record = parseSpf(text);
    expect(record.errors).toEqual([]);
    expect(record.all ?? record.redirect).not.toBeNull();
  });
});

describe('invalid records', () => {
  test.each([
    ['v=spf1 inlcude:_spf.google.com ~all', 'inlcude'],
    ['v=spf1 include _spf.google.com ~all', 'include'],
    ['v=spf1 include: ~all', 'include:'],
    ['v=spf1 ipv4:192.0.2.1 -all', 'ipv4'],
    ['v=spf1 ip4:192.0.2.256 -all', '192.0.2.256'],
    ['v=spf1 ip4:192.0.2.0/33 -all', '/33'],
    ['v=spf1 ip4:2001:db8::1 -all', '2001'],
    ['v=spf1 ip6:192.0.2.1 -all', 'ip6'],
    ['v=spf1 ip6:2001:db8::/129 -all', '/129'],
    ['v=spf1 ip4 -all', 'ip4'],
    ['v=spf1 a:localhost/99 -all', '/99'],
    ['v=spf1 all:example.com', 'all:'],
    ['v=spf1 mx -all include:late.example', 'after all'],
    ['v=spf1 mx, -all', 'mx,'],
    ['v=spf1 redirect=one.example redirect=two.example', 'twice'],
    ['v=spf1 redirect=', 'names no domain'],
    ['v=spf1 "include:x.example" ~all', '"include'],
    ['v=spf1 v=spf1 -all', ''],
    ['v=spf1 a\u0007b -all', 'a b'],
  ])('%s', (text, word) => {
    const { errors } = parseSpf(text);
    if (word) expect(errors.join()).toContain(word);
    // An unknown modifier, which is allowed.
    else expect(errors).toEqual([]);
  });

  test.each(['v=spf10 -all', 'v=spf2.0/pra -all', 'spf2.0/mfrom -all', ' v=spf1 -all', 'v=spf1;-all', 'google-site-verification=x'])(
    '"%s" is not an SPF record',
    (text) => expect(spfRecordsIn([text])).toEqual([]),
  );
});

describe('a domain', () => {
  const check = (zone: Record<string, string[]>) => checkSpf('d.example', async (name) => zone[name] ?? []);
  const includes = (count: number) => Array.from({ length: count }, (_, n) => `include:n${n}.example`).join(' ');
  const leaves = (count: number, record = 'v=spf1 ip4:192.0.2.1 -all') =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}.example`, [record]]));

  test.each<[string, Record<string, string[]>, boolean, RegExp]>([
    ['one record', { 'd.example': ['x=y', 'v=spf1 mx -all'] }, true, /v=spf1 mx -all/],
    ['none', { 'd.example': ['x=y'] }, false, /no SPF/],
    ['two', { 'd.example': ['v=spf1 mx -all', 'v=spf1 a -all'] }, false, /2 SPF records/],
    ['everyone', { 'd.example': ['v=spf1 mx +all'] }, false, /everyone/],
    ['everyone, without a qualifier', { 'd.example': ['v=spf1 mx all'] }, false, /everyone/],
    ['no all', { 'd.example': ['v=spf1 mx'] }, false, /does not end in all/],
    ['the all of an include does not count', { 'd.example': ['v=spf1 include:n0.example'], ...leaves(1) }, false, /does not end in all/],
    ['the all of a redirect counts', { 'd.example': ['v=spf1 redirect=n0.example'], ...leaves(1) }, true, /redirect/],
    ['a redirect to +all', { 'd.example': ['v=spf1 redirect=n0.example'], ...leaves(1, 'v=spf1 +all') }, false, /everyone/],
    ['a redirect beside all is not followed', { 'd.example': ['v=spf1 -all redirect=gone.example'] }, true, /-all/],
    ['an include without SPF', { 'd.example': ['v=spf1 include:gone.example -all'] }, false, /gone\.example, which has none/],
    [
      'an include with an error',
      { 'd.example': ['v=spf1 include:n0.example -all'], ...leaves(1, 'v=spf1 foo -all') },
      false,
      /n0\.example "foo"/,
    ],
    ['ten lookups', { 'd.example': [`v=spf1 ${includes(10)} -all`], ...leaves(10) }, true, /v=spf1/],
    ['eleven', { 'd.example': [`v=spf1 ${includes(11)} -all`], ...leaves(11) }, false, /more than 10/],
    ['eleven, in depth', { 'd.example': [`v=spf1 a mx ${includes(3)} -all`], ...leaves(3, 'v=spf1 a mx -all') }, false, /more than 10/],
    ['a loop', { 'd.example': ['v=spf1 include:n0.example -all'], ...leaves(1, 'v=spf1 include:d.example -all') }, false, /itself/],
    ['a macro', { 'd.example': ['v=spf1 include:%{ir}._spf.example -all'] }, true, /-all/],
  ])('%s', async (_, zone, ok, detail) => {
    const finding = await check(zone);
    expect(finding.detail).toMatch(detail);
    expect(finding.ok).toBe(ok);
    expect(finding.fix === '').toBe(ok);
  });

  test('?all passes with advice', async () => {
    expect(await check({ 'd.example': ['v=spf1 mx ?all'] })).toMatchObject({ ok: true, fix: expect.stringContaining('~all') });
  });
});
