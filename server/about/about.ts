import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { domainToASCII } from 'node:url';
import type { Output } from '../../contract/routes.ts';
import type { Config } from '../config.ts';
import { type Served, serve } from '../http/serve.ts';

/** The version in package.json. */
export const VERSION = readVersion();

type Settings = Pick<Config, 'mode' | 'mailFrom' | 'dkim' | 'smtpUrl'>;

export function aboutRoutes(settings: Settings): Served[] {
  const about = describeService(settings);
  return [serve('about', () => ({ ...about, time: new Date().toISOString() }))];
}

function describeService({ mode, mailFrom, dkim, smtpUrl }: Settings): Omit<Output<'about'>, 'time'> {
  return {
    name: 'emailauth',
    version: VERSION,
    mode,
    mail: {
      domain: domainToASCII(mailFrom.slice(mailFrom.lastIndexOf('@') + 1).split('>', 1)[0]),
      dkim: dkim && { domain: domainToASCII(dkim.domainName), selector: dkim.keySelector, publicKey: publicKeyOf(dkim.privateKey) },
      delivered: smtpUrl !== null,
    },
  };
}

/** Returns the public key as it is in the DNS record (RFC 6376 §3.6.1): DER in base64. */
function publicKeyOf(privateKey: string): string {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).toString('base64');
}

function readVersion(): string {
  // package.json is two directories above the source file and three above the built one.
  const root = import.meta.url.includes('/dist/server/') ? '../../../' : '../../';
  return JSON.parse(readFileSync(new URL(`${root}package.json`, import.meta.url), 'utf8')).version;
}
