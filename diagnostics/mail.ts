import type { Output } from '../contract/routes.ts';
import { isThisMachine } from '../contract/rules.ts';
import { type CheckResult, type Finding, fail, pass, runCheck, skip } from './check.ts';
import { evaluateDkim } from './dkim.ts';
import { evaluateDmarc, findDmarc, policyOf } from './dmarc.ts';
import type { Dns } from './dns.ts';
import { checkSpf } from './spf.ts';

type About = Output<'about'>;
type MailDns = Pick<Dns, 'texts' | 'mailServers' | 'addresses'>;

/**
 * Checks whether receivers will accept the service's email: the sender's domain, SPF, DKIM and DMARC.
 * @param about null: the service did not report where its email comes from
 */
export async function checkMail(about: About | null, dns: MailDns, signal: AbortSignal): Promise<CheckResult[]> {
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

async function checksFor({ domain, dkim }: About['mail'], dns: MailDns): Promise<MailChecks> {
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
async function checkSenderDomain(domain: string, dns: MailDns): Promise<Finding> {
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

/** DMARC requires the signing domain to match the sender's (RFC 7489 §3.1.1). */
function notAligned(sender: string, signer: string, isStrict: boolean): Finding {
  const reason = isStrict ? ', and its DMARC record requires the same domain (adkim=s)' : '';
  return fail(`The service signs as ${signer}, but sends as ${sender}${reason}.`, `Set DKIM_DOMAIN to ${sender}, with a key in its DNS.`);
}
