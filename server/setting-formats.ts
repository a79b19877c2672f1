import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { normalEmail } from '../contract/rules.ts';

/** Whether a text is a URL of PostgreSQL. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text) && URL.canParse(text);
}

/** Whether a text is scheme and host of an http(s) URL, and nothing else. */
export function isOrigin(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.href === `${url.origin}/` && !text.includes('?') && !text.includes('#');
}

/** Whether a text is one address, or `Name <address>`. */
export function isSender(text: string): boolean {
  const match = /^(?:[^<>@\p{Cc}]*<([^<>]+)>|([^<>\s]+))$/u.exec(text);
  const address = match?.[1] ?? match?.[2];
  if (!address) return false;
  // A mail that never leaves this machine may come from no-reply@localhost.
  return normalEmail(address) !== null || /^[\w.+-]+@localhost$/.test(address);
}

/** Whether a text is an IP address, with or without a port. */
export function isServerAddress(text: string): boolean {
  if (isIP(text)) return true;
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text);
  return match !== null && isIP(match[1] ?? match[2]) === (match[1] ? 6 : 4) && Number(match[3]) <= 65_535;
}

/** The PEM text that a setting holds, or that is in the file it names; empty when that cannot be read. */
export function readPem(text: string): string {
  if (text.includes('-----BEGIN')) return text.replaceAll('\\n', '\n');
  try {
    return readFileSync(text, 'utf8');
  } catch {
    return '';
  }
}

/** Whether a PEM text is an RSA private key. */
export function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
