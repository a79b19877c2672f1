import { type Check, fail, pass, runCheck, skip, type Verdict } from '../../contract/check.ts';
import type { Output } from '../../contract/routes.ts';
import { isThisMachine } from '../../contract/rules.ts';
import { judgeDkim } from './dkim.ts';
import { findDmarc, judgeDmarc, policyOf } from './dmarc.ts';
import type { Names } from './names.ts';
import { judgeSpf } from './spf.ts';

type About = Output<'about'>;

/**
 * Whether receivers will believe the service's mails: the sender's domain, SPF, DKIM and DMARC.
 * @param about null: the service did not say where its mails come from
 */
export async function checkMail(about: About | null, names: Names, signal: AbortSignal): Promise<Check[]> {
  const looks = about?.mail.delivered && !isThisMachine(about.mail.domain) ? await looksAt(about.mail, names) : null;
  const reason = whyNot(about);
  const run = (id: keyof Looks, name: string) => runCheck({ id, name, signal }, async () => (looks ? looks[id]() : skip(reason)));
  return Promise.all([run('mail_domain', "Sender's domain"), run('spf', 'SPF'), run('dkim', 'DKIM'), run('dmarc', 'DMARC')]);
}

function whyNot(about: About | null): string {
  if (!about) return 'The service did not say where its mails come from.';
  if (!about.mail.delivered) return 'Mails stay in the built-in inbox of the service.';
  return `Mails come from ${about.mail.domain}, which is on no name server.`;
}

type Looks = Record<'mail_domain' | 'spf' | 'dkim' | 'dmarc', () => Promise<Verdict>>;

async function looksAt({ domain, dkim }: About['mail'], names: Names): Promise<Looks> {
  const { organisationOf } = await import('../../diagnostics/website/hosts.ts');
  // Asked once, for the policy and for how strictly it reads DKIM.
  const dmarc = findDmarc(domain, organisationOf(domain), names.texts);
  dmarc.catch(() => {});
  return {
    mail_domain: () => judgeDomain(domain, names),
    spf: () => judgeSpf(domain, names.texts),
    async dkim() {
      if (!dkim) {
        return skip('The service does not sign its mails; its mail server may.', 'See that the mail server signs, or set DKIM_DOMAIN.');
      }
      const strict = policyOf(await dmarc)?.strictDkim ?? false;
      const texts = await names.texts(`${dkim.selector}._domainkey.${dkim.domain}`);
      const aligned = strict ? dkim.domain === domain : organisationOf(dkim.domain) === organisationOf(domain);
      return aligned ? judgeDkim(dkim, texts) : foreignSigner(domain, dkim.domain, strict);
    },
    dmarc: async () => judgeDmarc(await dmarc),
  };
}

/** Without an address a sender's domain does not exist for receivers, and a null MX says that no mail comes from it either. */
async function judgeDomain(domain: string, names: Names): Promise<Verdict> {
  const servers = await names.mailServers(domain);
  if (servers[0] === '.') {
    return fail(`${domain} says by its MX that it has no mail (RFC 7505), so receivers may refuse it.`, 'Remove that MX record.');
  }
  if (servers.length > 0) return pass(`Mails come from ${domain}, which has ${servers.length === 1 ? 'a mail server' : 'mail servers'}.`);
  if ((await names.addresses(domain)).length > 0) return pass(`Mails come from ${domain}, which has an address.`);
  return fail(`Mails come from ${domain}, which has neither MX nor address.`, `Add an MX or A record for ${domain}, or change MAIL_FROM.`);
}

/** DMARC wants the signing domain to be the sender's (RFC 7489 §3.1.1). */
function foreignSigner(sender: string, signer: string, strict: boolean): Verdict {
  const why = strict ? `, and its DMARC record asks for the same domain (adkim=s)` : '';
  return fail(`The service signs as ${signer}, but sends as ${sender}${why}.`, `Set DKIM_DOMAIN to ${sender}, with a key in its DNS.`);
}
