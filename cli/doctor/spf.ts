import { isIP } from 'node:net';
import { fail, oneLine, pass, type Verdict } from '../../contract/check.ts';

/** One SPF record (RFC 7208 §4.6), read up to `all`, after which nothing counts. */
export type SpfRecord = {
  /** Qualifier of `all`; null: there is none. */
  all: '+' | '-' | '~' | '?' | null;
  /** Where the record goes on when it has no `all`. */
  redirect: string | null;
  /** Names whose records are asked for as well. */
  includes: string[];
  /** DNS lookups of its own mechanisms, without those of `includes` and `redirect`. */
  lookups: number;
  /** What makes a receiver ignore the whole record, and senders that stand where they do not count. */
  faults: string[];
};

/** RFC 7208 §4.6.4. */
const MAX_LOOKUPS = 10;

// Qualifier, name, value, and the prefixes of IPv4 and IPv6.
const MECHANISM = /^([+\-~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::(.+?))?((?:\/\d+)?(?:\/\/\d+)?)$/i;
const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/i;
const MACRO_AT_END = /%\{[^{}]+\}$/;

/** Of a name's TXT records those that are SPF (RFC 7208 §4.5). */
export function spfOf(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/** @param text a record that spfOf has picked */
export function parseSpf(text: string): SpfRecord {
  const record: SpfRecord = { all: null, redirect: null, includes: [], lookups: 0, faults: [] };
  const seen = new Set<string>();
  for (const term of text.split(' ').slice(1).filter(Boolean)) {
    const modifier = MODIFIER.exec(term);
    if (modifier) readModifier(record, modifier, seen);
    else readMechanism(record, term);
  }
  if (record.all) record.redirect = null;
  return record;
}

function readModifier(record: SpfRecord, [term, name, value]: RegExpExecArray, seen: Set<string>): void {
  const key = name.toLowerCase();
  if (key !== 'redirect' && key !== 'exp') return;
  if (seen.has(key)) record.faults.push(`${key}= stands there twice`);
  seen.add(key);
  if (!isDomainSpec(value)) record.faults.push(`"${oneLine(term, 60)}" names no domain`);
  else if (key === 'redirect') record.redirect = value;
}

function readMechanism(record: SpfRecord, term: string): void {
  const match = MECHANISM.exec(term);
  const shown = oneLine(term, 60);
  if (!match) {
    record.faults.push(`"${shown}" is no mechanism of SPF`);
    return;
  }
  const [, qualifier, name, value, prefix] = match;
  const kind = name.toLowerCase();
  if (record.all) record.faults.push(`"${shown}" stands after all, where nothing counts`);
  else if (!isSound(kind, value, prefix)) record.faults.push(`"${shown}" is not valid`);
  else if (kind === 'all') record.all = (qualifier || '+') as SpfRecord['all'];
  else if (kind === 'include') record.includes.push(value);
  else if (kind !== 'ip4' && kind !== 'ip6') record.lookups++;
}

function isSound(kind: string, value: string | undefined, prefix: string): boolean {
  switch (kind) {
    case 'all':
      return value === undefined && prefix === '';
    case 'ip4':
      return isIP(value ?? '') === 4 && (prefix === '' || isPrefix(prefix, 32));
    case 'ip6':
      return isIP(value ?? '') === 6 && (prefix === '' || isPrefix(prefix, 128));
    case 'a':
    case 'mx': {
      const [, four, six] = /^(\/\d+)?(?:\/(\/\d+))?$/.exec(prefix) as RegExpExecArray;
      return (value === undefined || isDomainSpec(value)) && (!four || isPrefix(four, 32)) && (!six || isPrefix(six, 128));
    }
    case 'ptr':
      return (value === undefined || isDomainSpec(value)) && prefix === '';
    default:
      return value !== undefined && isDomainSpec(value) && prefix === '';
  }
}

/** RFC 7208 §7.1: a name that ends with a top-level label, which holds a letter, or with a macro. */
function isDomainSpec(text: string): boolean {
  if (MACRO_AT_END.test(text)) return true;
  const labels = text.replace(/\.$/, '').split('.');
  const last = labels.at(-1) ?? '';
  return /^[\x21-\x7e]+$/.test(text) && labels.length > 1 && text[0] !== '.' && /^[a-z0-9-]+$/i.test(last) && /[a-z]/i.test(last);
}

const isPrefix = (text: string, most: number) => /^\/(?:0|[1-9]\d*)$/.test(text) && Number(text.slice(1)) <= most;

/** Everything that a receiver has to ask for one domain's SPF, counted as RFC 7208 §4.6.4 does. */
type Walk = { lookups: number; all: SpfRecord['all']; fault: string | null };

/**
 * Judges a sending domain's SPF: one record, sound, with an `all` that says no to others, and cheap enough to be asked.
 * @param textsOf TXT records of a name; rejects when the name server fails
 */
export async function judgeSpf(domain: string, textsOf: (name: string) => Promise<string[]>): Promise<Verdict> {
  const records = spfOf(await textsOf(domain));
  const example = 'v=spf1 include:<your mail provider> ~all';
  if (records.length === 0) {
    return fail(`${domain} has no SPF record, so anybody may send in its name.`, `Add a TXT record at ${domain}: ${example}`);
  }
  const walk: Walk = { lookups: 0, all: null, fault: null };
  await follow(domain, records, walk, textsOf, []);
  const shown = `${domain}: ${oneLine(records[0])}`;
  if (walk.fault) return fail(`${walk.fault}.`, `Correct the TXT record that begins with v=spf1, for instance to: ${example}`);
  if (walk.lookups > MAX_LOOKUPS) {
    return fail(
      `The SPF record of ${domain} needs more than ${MAX_LOOKUPS} DNS lookups, so receivers ignore it (RFC 7208).`,
      'Remove include: and other mechanisms that you do not need, or replace them by ip4: and ip6:.',
    );
  }
  if (walk.all === null) return fail(`${shown} does not end in all, so it refuses nobody.`, 'Let it end in ~all or -all.');
  if (walk.all === '+') return fail(`${shown} lets everybody send in its name.`, 'Let it end in ~all or -all, not in +all.');
  return pass(shown, walk.all === '?' ? '?all refuses nobody: let it end in ~all or -all.' : '');
}

async function follow(
  domain: string,
  records: string[],
  walk: Walk,
  textsOf: (name: string) => Promise<string[]>,
  path: string[],
): Promise<void> {
  const where = oneLine(domain, 80);
  if (records.length === 0) {
    walk.fault ??= `The SPF record of ${oneLine(path.at(-1) ?? '', 80)} refers to ${where}, which has none`;
    return;
  }
  if (records.length > 1) {
    walk.fault ??= `${where} has ${records.length} SPF records, where there must be one`;
    return;
  }
  if (path.includes(domain.toLowerCase())) {
    walk.fault ??= `The SPF record of ${where} refers to itself`;
    return;
  }
  const record = parseSpf(records[0]);
  if (record.faults.length > 0) walk.fault ??= `In the SPF record of ${where} ${record.faults.join(', and ')}`;
  walk.lookups += record.lookups;
  walk.all = record.all;
  const next = record.redirect ? [...record.includes, record.redirect] : record.includes;
  for (const name of next) {
    walk.lookups++;
    if (walk.fault || walk.lookups > MAX_LOOKUPS) return;
    // What a macro stands for depends on the mail.
    if (name.includes('%')) continue;
    const within: Walk = { lookups: walk.lookups, all: null, fault: null };
    await follow(name, spfOf(await textsOf(name)), within, textsOf, [...path, domain.toLowerCase()]);
    walk.lookups = within.lookups;
    walk.fault ??= within.fault;
    if (name === record.redirect) walk.all = within.all;
  }
}
