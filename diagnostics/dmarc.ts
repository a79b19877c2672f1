import { type Finding, fail, oneLine, pass } from './check.ts';
import { parseTags } from './dkim.ts';

/** A domain's DMARC policy (RFC 7489 §6.3). */
export type Dmarc = {
  policy: 'none' | 'quarantine' | 'reject';
  /** The DKIM domain must equal the sender's, rather than share its registrable domain. */
  strictDkim: boolean;
};

const POLICIES = ['none', 'quarantine', 'reject'] as const;
const isPolicy = (text: string | undefined): text is Dmarc['policy'] => POLICIES.some((policy) => policy === text);

/** Returns those TXT records of a name that are DMARC (RFC 7489 §6.6.3). */
export function dmarcRecordsIn(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text));
}

/**
 * Parses a record that dmarcRecordsIn returned.
 * @param isInherited the record is at the registrable domain, above the sender's
 * @returns the policy, or what is wrong with the record, in words that follow its name
 */
export function parseDmarc(text: string, isInherited = false): Dmarc | { error: string } {
  const tags = parseTags(text);
  if (!tags) return { error: 'is not a list of tags such as v=DMARC1; p=none' };
  const lower = (tag: string) => tags.get(tag)?.toLowerCase();
  const own = lower('p');
  if (!isPolicy(own)) return { error: own === undefined ? 'has no p=' : `has an unknown p=: ${oneLine(own, 20)}` };
  const sub = lower('sp');
  if (sub !== undefined && !isPolicy(sub)) return { error: `has an unknown sp=: ${oneLine(sub, 20)}` };
  for (const tag of ['adkim', 'aspf']) {
    if (!['r', 's', undefined].includes(lower(tag))) return { error: `has an ${tag}= other than r and s` };
  }
  const percent = tags.get('pct');
  if (percent !== undefined && !(/^\d{1,3}$/.test(percent) && Number(percent) <= 100))
    return { error: 'has a pct= that is not a number from 0 to 100' };
  return { policy: isInherited ? (sub ?? own) : own, strictDkim: lower('adkim') === 's' };
}

/** The TXT records found for a sender: at its own name, else at its registrable domain. */
export type FoundDmarc = { name: string; isInherited: boolean; texts: string[] };

/**
 * Looks up the DMARC records of a sender.
 * @param parent the registrable domain of `domain`
 * @param textsOf returns the TXT records of a name; rejects when the name server fails
 */
export async function findDmarc(domain: string, parent: string, textsOf: (name: string) => Promise<string[]>): Promise<FoundDmarc> {
  const own = { name: `_dmarc.${domain}`, isInherited: false, texts: await textsOf(`_dmarc.${domain}`) };
  if (dmarcRecordsIn(own.texts).length > 0 || parent === domain) return own;
  const inherited = { name: `_dmarc.${parent}`, isInherited: true, texts: await textsOf(`_dmarc.${parent}`) };
  return dmarcRecordsIn(inherited.texts).length > 0 ? inherited : own;
}

/** Returns the policy that receivers would follow, or null. */
export function policyOf({ texts, isInherited }: FoundDmarc): Dmarc | null {
  const records = dmarcRecordsIn(texts);
  const policy = records.length === 1 ? parseDmarc(records[0], isInherited) : null;
  return policy && !('error' in policy) ? policy : null;
}

/** Returns the finding for the records that findDmarc found. */
export function evaluateDmarc({ name, isInherited, texts }: FoundDmarc): Finding {
  const records = dmarcRecordsIn(texts);
  if (records.length > 1)
    return fail(`There are ${records.length} DMARC records at ${name}, so receivers ignore them.`, 'Keep one of them.');
  if (records.length === 0) {
    const detail = texts.length > 0 ? `The record at ${name} does not begin with v=DMARC1;` : `There is no DMARC record at ${name}.`;
    return fail(detail, `Add a TXT record at ${name}: v=DMARC1; p=none`);
  }
  const policy = parseDmarc(records[0], isInherited);
  if ('error' in policy) return fail(`The record at ${name} ${policy.error}.`, 'Correct it, for instance to: v=DMARC1; p=none');
  const advice = 'It does not stop forged emails: change it to p=quarantine once your own emails pass.';
  return pass(`${name}: ${oneLine(records[0])}`, policy.policy === 'none' ? advice : '');
}
