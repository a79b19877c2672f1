import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { domainToASCII } from 'node:url';
import type { Output } from '../../contract/routes.ts';
import type { Config } from '../config.ts';

/** @returns what tells a program which service this is, and what its clock says */
export function createAbout({ mode, mailFrom, dkim, smtpUrl }: Pick<Config, 'mode' | 'mailFrom' | 'dkim' | 'smtpUrl'>) {
  const fixed = {
    name: 'emailauth' as const,
    version: version(),
    mode,
    mail: {
      domain: domainToASCII(mailFrom.slice(mailFrom.lastIndexOf('@') + 1).split('>', 1)[0]),
      dkim: dkim && { domain: domainToASCII(dkim.domainName), selector: dkim.keySelector, publicKey: publicKeyOf(dkim.privateKey) },
      delivered: smtpUrl !== null,
    },
  };
  return (): Output<'about'> => ({ ...fixed, time: new Date().toISOString() });
}

/** The public half as RFC 6376 §3.6.1 wants it in the DNS: DER in base64. */
function publicKeyOf(privateKey: string): string {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64');
}

/** The version in package.json, two directories up from source and three from dist. */
function version(): string {
  const home = import.meta.url.includes('/dist/server/') ? '../../../' : '../../';
  return JSON.parse(readFileSync(new URL(`${home}package.json`, import.meta.url), 'utf8')).version;
}
