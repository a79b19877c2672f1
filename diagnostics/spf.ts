import { isIP } from 'node:net';
import { type Finding, fail, oneLine, pass } from './check.ts';

/** One SPF record (RFC 7208 §4.6). Terms after `all` are errors, as receivers ignore them. */
type SpfRecord = {
  /** Qualifier of `all`; null when there is none. */
  all: '+' | '-' | '~' | '?' | null;
  /** The domain whose record applies when this one has no `all`. */
  redirect: string | null;
  /** Domains whose records are queried as well. */
  includes: string[];
  /** DNS lookups of its own mechanisms, without those of `includes` and `redirect`. */
  lookups: number;
  /** What makes receivers ignore the record or a part of it. */
  errors: string[];
};

/** RFC 7208 §4.6.4. */
const MAX_LOOKUPS = 10;

// Qualifier, name, value, and the prefixes of IPv4 and IPv6.
const MECHANISM = /^([+\-~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?::(.+?))?((?:\/\d+)?(?:\/\/\d+)?)$/i;
const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/i;
const MACRO_AT_END = /%\{[^{}]+\}$/;

/** Returns those TXT records of a name that are SPF (RFC 7208 §4.5). */
export function spfRecordsIn(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v=spf1(?: |$)/i.test(text));
}

/** Parses a record that spfRecordsIn returned. */
export function parseSpf(text: string): SpfRecord {
  const record: SpfRecord = { all: null, redirect: null, includes: [], lookups: 0, errors: [] };
  const seen = new Set<string>();
  for (const term of text.split(' ').slice(1).filter(Boolean)) {
    const modifier = MODIFIER.exec(term);
    if (modifier) parseModifier(record, modifier, seen);
    else parseMechanism(record, term);
  }
  if (record.all) record.redirect = null;
  return record;
}

function parseModifier(record: SpfRecord, [term, name, value]: RegExpExecArray, seen: Set<string>): void {
  const key = name.toLowerCase();
  if (key !== 'redirect' && key !== 'exp') return;
  if (seen.has(key)) record.errors.push(`${key}= occurs twice`);
  seen.add(key);
  if (!isDomainSpec(value)) record.errors.push(`"${oneLine(term, 60)}" names no domain`);
  else if (key === 'redirect') record.redirect = value;
}

function parseMechanism(record: SpfRecord, term: string): void {
  const match = MECHANISM.exec(term);
  const shown = oneLine(term, 60);
  if (!match) {
    record.errors.push(`"${shown}" is not an SPF mechanism`);
    return;
  }
  const [, qualifier, name, value, prefix] = match;
  const kind = name.toLowerCase();
  if (record.all) record.errors.push(`"${shown}" is after all, where receivers ignore it`);
  else if (!isValidMechanism(kind, value, prefix)) record.errors.push(`"${shown}" is not valid`);
  else if (kind === 'all') record.all = (qualifier || '+') as SpfRecord['all'];
  else if (kind === 'include') record.includes.push(value);
  else if (kind !== 'ip4' && kind !== 'ip6') record.lookups++;
}

function isValidMechanism(kind: string, value: string | undefined, prefix: string): boolean {
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

/** Whether a text is a name (RFC 7208 §7.1). It ends with a macro, or with a top-level label, which contains a letter. */
function isDomainSpec(text: string): boolean {
  if (MACRO_AT_END.test(text)) return true;
  const labels = text.replace(/\.$/, '').split('.');
  const last = labels.at(-1) ?? '';
  return /^[\x21-\x7e]+$/.test(text) && labels.length > 1 && text[0] !== '.' && /^[a-z0-9-]+$/i.test(last) && /[a-z]/i.test(last);
}

const isPrefix = (text: string, maxBits: number) => /^\/(?:0|[1-9]\d*)$/.test(text) && Number(text.slice(1)) <= maxBits;

/** The state while the records of one domain are followed; lookups are counted as in RFC 7208 §4.6.4. */
type Walk = { lookups: number; all: SpfRecord['all']; error: string | null };

/**
 * Checks the SPF of a sending domain: one valid record that excludes other senders and needs at most ten lookups.
 * @param textsOf returns the TXT records of a name; rejects when the name server fails
 */
export async function checkSpf(domain: string, textsOf: (name: string) => Promise<string[]>): Promise<Finding> {
  const records = spfRecordsIn(await textsOf(domain));
  const example = 'v=spf1 include:<your mail provider> ~all';
  if (records.length === 0) {
    return fail(`${domain} has no SPF record, so anyone may send as it.`, `Add a TXT record at ${domain}: ${example}`);
  }
  const walk: Walk = { lookups: 0, all: null, error: null };
  await followRecords(domain, records, walk, textsOf, []);
  const shown = `${domain}: ${oneLine(records[0])}`;
  if (walk.error) return fail(`${walk.error}.`, `Correct the TXT record that begins with v=spf1, for instance to: ${example}`);
  if (walk.lookups > MAX_LOOKUPS) {
    return fail(
      `The SPF record of ${domain} needs more than ${MAX_LOOKUPS} DNS lookups, so receivers ignore it (RFC 7208).`,
      'Remove include: and other mechanisms that you do not need, or replace them with ip4: and ip6:.',
    );
  }
  if (walk.all === null) return fail(`${shown} does not end in all, so it excludes no sender.`, 'End it with ~all or -all.');
  if (walk.all === '+') return fail(`${shown} allows everyone to send as it.`, 'End it with ~all or -all, not with +all.');
  return pass(shown, walk.all === '?' ? '?all excludes no sender: end the record with ~all or -all.' : '');
}

/** Follows includes and redirects, and adds up lookups and errors in `walk`. @param path the domains above this one */
async function followRecords(
  domain: string,
  records: string[],
  walk: Walk,
  textsOf: (name: string) => Promise<string[]>,
  path: string[],
): Promise<void> {
  const where = oneLine(domain, 80);
  if (records.length === 0) {
    walk.error ??= `The SPF record of ${oneLine(path.at(-1) ?? '', 80)} refers to ${where}, which has none`;
    return;
  }
  if (records.length > 1) {
    walk.error ??= `${where} has ${records.length} SPF records instead of one`;
    return;
  }
  if (path.includes(domain.toLowerCase())) {
    walk.error ??= `The SPF record of ${where} refers to itself`;
    return;
  }
  const record = parseSpf(records[0]);
  if (record.errors.length > 0) walk.error ??= `In the SPF record of ${where} ${record.errors.join(', and ')}`;
  walk.lookups += record.lookups;
  walk.all = record.all;
  const next = record.redirect ? [...record.includes, record.redirect] : record.includes;
  for (const name of next) {
    walk.lookups++;
    if (walk.error || walk.lookups > MAX_LOOKUPS) return;
    // The value of a macro depends on the email.
    if (name.includes('%')) continue;
    const nested: Walk = { lookups: walk.lookups, all: null, error: null };
    await followRecords(name, spfRecordsIn(await textsOf(name)), nested, textsOf, [...path, domain.toLowerCase()]);
    walk.lookups = nested.lookups;
    walk.error ??= nested.error;
    if (name === record.redirect) walk.all = nested.all;
  }
}
