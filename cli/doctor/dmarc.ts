import { fail, oneLine, pass, type Verdict } from '../../contract/check.ts';
import { parseTags } from './tags.ts';

/** A domain's DMARC policy (RFC 7489 §6.3). */
export type Dmarc = {
  policy: 'none' | 'quarantine' | 'reject';
  /** The DKIM domain must be the sender's own, not only of the same organisation. */
  strictDkim: boolean;
};

const POLICIES = ['none', 'quarantine', 'reject'] as const;
const isPolicy = (text: string | undefined): text is Dmarc['policy'] => POLICIES.some((policy) => policy === text);

/** Of a name's TXT records those that are DMARC (RFC 7489 §6.6.3). */
export function dmarcOf(texts: readonly string[]): string[] {
  return texts.filter((text) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text));
}

/**
 * @param text a record that dmarcOf has picked
 * @param inherited it stands at the organisation's domain, above the sender's
 * @returns what is wrong with it, or the policy
 */
export function parseDmarc(text: string, inherited = false): Dmarc | { fault: string } {
  const tags = parseTags(text);
  if (!tags) return { fault: 'is no list of tags such as v=DMARC1; p=none' };
  const lower = (tag: string) => tags.get(tag)?.toLowerCase();
  const own = lower('p');
  if (!isPolicy(own)) return { fault: own === undefined ? 'has no p=' : `has a p= that does not exist: ${oneLine(own, 20)}` };
  const sub = lower('sp');
  if (sub !== undefined && !isPolicy(sub)) return { fault: `has an sp= that does not exist: ${oneLine(sub, 20)}` };
  for (const tag of ['adkim', 'aspf']) {
    if (!['r', 's', undefined].includes(lower(tag))) return { fault: `has an ${tag}= other than r and s` };
  }
  const percent = tags.get('pct');
  if (percent !== undefined && !(/^\d{1,3}$/.test(percent) && Number(percent) <= 100))
    return { fault: 'has a pct= that is no number from 0 to 100' };
  return { policy: inherited ? (sub ?? own) : own, strictDkim: lower('adkim') === 's' };
}

/** What was found for a sender: at its own name, else at its organisation's. */
export type FoundDmarc = { name: string; inherited: boolean; texts: string[] };

/**
 * @param organisation the registrable domain of `domain`
 * @param textsOf TXT records of a name; rejects when the name server fails
 */
export async function findDmarc(domain: string, organisation: string, textsOf: (name: string) => Promise<string[]>): Promise<FoundDmarc> {
  const own = { name: `_dmarc.${domain}`, inherited: false, texts: await textsOf(`_dmarc.${domain}`) };
  if (dmarcOf(own.texts).length > 0 || organisation === domain) return own;
  const above = { name: `_dmarc.${organisation}`, inherited: true, texts: await textsOf(`_dmarc.${organisation}`) };
  return dmarcOf(above.texts).length > 0 ? above : own;
}

/** The policy that receivers would follow; null: none. */
export function policyOf({ texts, inherited }: FoundDmarc): Dmarc | null {
  const records = dmarcOf(texts);
  const policy = records.length === 1 ? parseDmarc(records[0], inherited) : null;
  return policy && !('fault' in policy) ? policy : null;
}

/** Judges what findDmarc found. */
export function judgeDmarc({ name, inherited, texts }: FoundDmarc): Verdict {
  const records = dmarcOf(texts);
  if (records.length > 1) return fail(`There are ${records.length} DMARC records at ${name}, so none counts.`, 'Keep one of them.');
  if (records.length === 0) {
    const detail = texts.length > 0 ? `The record at ${name} does not begin with v=DMARC1;` : `There is no DMARC record at ${name}.`;
    return fail(detail, `Add a TXT record at ${name}: v=DMARC1; p=none`);
  }
  const policy = parseDmarc(records[0], inherited);
  if ('fault' in policy) return fail(`The record at ${name} ${policy.fault}.`, 'Correct it, for instance to: v=DMARC1; p=none');
  const advice = 'It refuses no forged mail: change it to p=quarantine once your own mails pass.';
  return pass(`${name}: ${oneLine(records[0])}`, policy.policy === 'none' ? advice : '');
}
