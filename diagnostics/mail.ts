import { createPublicKey } from 'node:crypto';
import { isIP } from 'node:net';
import type { Output } from '../contract/calls.ts';
import { isThisMachine } from '../contract/urls.ts';
import { type CheckResult, type Finding, fail, oneLine, pass, runCheck, skip } from './check.ts';
import type { Dns } from './dns.ts';
import { checkSpf } from './spf.ts';

type About = Output<'about'>;

/**
 * Checks whether receivers will accept the service's email: the sender's domain, SPF, DKIM and DMARC.
 * @param about null: the service did not report where its email comes from
 */
export async function checkMail(about: About | null, dns: Dns, signal: AbortSignal): Promise<CheckResult[]> {
  const checks = about?.mail.delivered && !isThisMachine(about.mail.domain) ? await checksFor(about.mail, dns) : null;
  const reason = reasonToSkip(about);
  const run = (id: keyof MailChecks, name: string) => runCheck({ id, name, signal }, async () => (checks ? checks[id]() : skip(reason)));
  return Promise.all([run('mail_domain', "Sender's domain"), run('spf', 'SPF'), run('dkim', 'DKIM'), run('dmarc', 'DMARC')]);
}

function reasonToSkip(about: About | null): string {
  if (!about) return 'The service did not report where its email comes from.';
  if (!about.mail.delivered) return 'Emails stay in the built-in inbox of the service.';
  return `Emails come from ${about.mail.domain}, which is not in the DNS.`;
}

type MailChecks = Record<'mail_domain' | 'spf' | 'dkim' | 'dmarc', () => Promise<Finding>>;

async function checksFor({ domain, dkim }: About['mail'], dns: Dns): Promise<MailChecks> {
  // The Public Suffix List is only loaded when it is needed.
  const { registrableDomain } = await import('./website.ts');
  // One query for both the policy and the alignment of DKIM.
  const dmarc = findDmarc(domain, registrableDomain(domain), dns.texts);
  dmarc.catch(() => {});
  return {
    mail_domain: () => checkSenderDomain(domain, dns),
    spf: () => checkSpf(domain, dns.texts),
    async dkim() {
      if (!dkim) {
        const fix = 'Check that the mail server signs, or set DKIM_DOMAIN.';
        return skip('The service does not sign its email; its mail server may do so.', fix);
      }
      const isStrict = policyOf(await dmarc)?.strictDkim ?? false;
      const texts = await dns.texts(`${dkim.selector}._domainkey.${dkim.domain}`);
      const isAligned = isStrict ? dkim.domain === domain : registrableDomain(dkim.domain) === registrableDomain(domain);
      return isAligned ? evaluateDkim(dkim, texts) : notAligned(domain, dkim.domain, isStrict);
    },
    dmarc: async () => evaluateDmarc(await dmarc),
  };
}

/** Receivers refuse a sender's domain that has no address, or a null MX record: it then sends no email either. */
async function checkSenderDomain(domain: string, dns: Dns): Promise<Finding> {
  const servers = await dns.mailServers(domain);
  if (servers[0] === '.') {
    const detail = `The MX record of ${domain} says that it has no email (RFC 7505), so receivers may refuse it.`;
    return fail(detail, 'Remove that MX record.');
  }
  if (servers.length > 0) return pass(`Emails come from ${domain}, which has ${servers.length === 1 ? 'a mail server' : 'mail servers'}.`);
  if ((await dns.addresses(domain)).length > 0) return pass(`Emails come from ${domain}, which has an address.`);
  return fail(
    `Emails come from ${domain}, which has no MX record and no address.`,
    `Add an MX or A record for ${domain}, or change MAIL_FROM.`,
  );
}

/** Checks whether each public address of the mail server has a name that leads back to it. Receivers expect that of a sender. */
export async function checkReverseName(smtpUrl: string | null, dns: Dns, isPublic: (address: string) => boolean): Promise<Finding> {
  if (!smtpUrl) return skip('Emails stay in the built-in inbox of the service.');
  const host = new URL(smtpUrl).hostname.replace(/^\[|\]$/g, '');
  const elsewhere = 'Check there that the public address from which it sends has a PTR record, whose name has that address.';
  const addresses = isIP(host) ? [host] : isThisMachine(host) ? [] : await dns.addresses(host);
  const found = addresses.filter(isPublic);
  if (found.length === 0) return skip(`The mail server ${host} has no public address that is known here.`, elsewhere);
  for (const address of found) {
    const names = await dns.names(address);
    if (names.length === 0) {
      return fail(
        `${address} of ${host} has no PTR record, so receivers may refuse its email.`,
        'Let the provider of the address set one, with the name of the mail server.',
      );
    }
    const confirmed = await Promise.all(names.map(async (name) => (await dns.addresses(name)).includes(address)));
    if (!confirmed.includes(true)) {
      const shown = oneLine(names[0], 80);
      return fail(
        `${address} of ${host} has the name ${shown}, which does not have that address.`,
        `Add an A or AAAA record for ${shown} with ${address}.`,
      );
    }
  }
  return pass(
    `${found.join(', ')} of ${host} has a name that leads back to it.`,
    isIP(host) ? '' : 'If it relays to another server, this applies to that one.',
  );
}

/** DMARC requires the signing domain to match the sender's (RFC 7489 §3.1.1). */
function notAligned(sender: string, signer: string, isStrict: boolean): Finding {
  const reason = isStrict ? ', and its DMARC record requires the same domain (adkim=s)' : '';
  return fail(`The service signs as ${signer}, but sends as ${sender}${reason}.`, `Set DKIM_DOMAIN to ${sender}, with a key in its DNS.`);
}

/** RFC 8301 §3.2: verifiers ignore shorter keys, and signers should use 2048 bits. */
const MIN_BITS = 1024;
const RECOMMENDED_BITS = 2048;

/**
 * Returns the finding for the record of the key that the service signs with (RFC 6376 §3.6.1).
 * @param dkim.publicKey DER in base64
 * @param texts TXT records at selector._domainkey.domain
 */
export function evaluateDkim(dkim: { domain: string; selector: string; publicKey: string }, texts: string[]): Finding {
  const name = `${dkim.selector}._domainkey.${dkim.domain}`;
  const expected = `v=DKIM1; k=rsa; p=${dkim.publicKey}`;
  if (texts.length === 0)
    return fail(`There is no key at ${name}, so the signatures are not valid.`, `Add a TXT record at ${name}: ${expected}`);
  if (texts.length > 1) return fail(`There are ${texts.length} TXT records at ${name}.`, `Keep one of them: ${expected}`);
  const tags = parseTags(texts[0]);
  const allows = (tag: string, ...values: string[]) => {
    const listed = tags?.get(tag)?.toLowerCase().split(':');
    return !listed || listed.some((value) => values.includes(value.trim()));
  };
  const isVersion1 = !tags?.has('v') || /^v\s*=\s*DKIM1\s*;/.test(texts[0].trim());
  if (!tags || !isVersion1 || !allows('k', 'rsa') || !allows('h', 'sha256') || !allows('s', '*', 'email'))
    return fail(`The record at ${name} is not for a key of RSA that signs email with sha256.`, `Replace it with: ${expected}`);
  const key = createPublicKey({ key: Buffer.from(dkim.publicKey, 'base64'), format: 'der', type: 'spki' });
  // In practice SubjectPublicKeyInfo; RFC 6376 defines RSAPublicKey.
  const forms = (['spki', 'pkcs1'] as const).map((type) => key.export({ format: 'der', type }).toString('base64'));
  if (!forms.includes(tags.get('p')?.replace(/\s+/g, '') ?? '')) {
    return fail(
      `The key at ${name} is not the one that the service signs with, or was cut when it was pasted.`,
      `Give the service the right DKIM_KEY, or replace the record with: ${expected}`,
    );
  }
  const bits = key.asymmetricKeyDetails?.modulusLength ?? RECOMMENDED_BITS;
  if (bits < MIN_BITS) return fail(`The key at ${name} has ${bits} bits, which receivers ignore.`, 'Give the service a longer DKIM_KEY.');
  const advice = [
    ...(tags.has('t') && allows('t', 'y') ? ['It has t=y, which lets receivers treat the emails as unsigned: remove it.'] : []),
    ...(bits < RECOMMENDED_BITS ? [`The key has ${bits} bits: ${RECOMMENDED_BITS} are recommended.`] : []),
  ];
  return pass(`The key at ${name} is the one that the service signs with.`, advice.join(' '));
}

/**
 * Parses the `name=value; name=value` of DKIM and DMARC records (RFC 6376 §3.2, RFC 7489 §6.4), in order.
 * @returns null when it is not such a list or a name occurs twice
 */
function parseTags(text: string): Map<string, string> | null {
  const tags = new Map<string, string>();
  const parts = text.split(';').map((part) => part.trim());
  if (parts.at(-1) === '') parts.pop();
  for (const part of parts) {
    const match = /^([a-z][a-z0-9_]*)\s*=\s*(.*)$/is.exec(part);
    if (!match || tags.has(match[1])) return null;
    tags.set(match[1], match[2].trim());
  }
  return tags.size > 0 ? tags : null;
}

/** A domain's DMARC policy (RFC 7489 §6.3). */
type Dmarc = {
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
type FoundDmarc = { name: string; isInherited: boolean; texts: string[] };

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
