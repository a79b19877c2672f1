import { normalEmail } from '../../contract/emails.ts';
import { lineFault } from '../../contract/rules.ts';
import { normalHost } from '../../contract/urls.ts';

/** A mailbox (RFC 5322 §3.4) as emails have it: the name in Unicode, the address in ASCII with its domain as A-label (RFC 5890). */
export type Mailbox = { name: string; address: string };

/** As long as the sender's name of a website. */
const MAX_NAME_LENGTH = 60;
/** Decoders read it as another text, even inside quotes (RFC 2047 §2). */
const ENCODED_WORD = /=\?[^?\s]+\?[BQ]\?[^?]*\?=/i;
/** RFC 2606 §2 and §3, RFC 6761 §6. `.example` is left out, so that documented settings can be tried. */
const RESERVED = /(?:^|\.)(?:example\.(?:com|net|org)|test|invalid|localhost)$/;

/**
 * Parses the sender of emails: `address`, `<address>` or `Name <address>`. The name is read as it is written, up to the address. It is
 * in double quotes when it has " < > or @, with \" and \\ for the characters themselves.
 * @returns the mailbox, or what is wrong with the text as the beginning of a sentence
 */
export function parseSender(text: string): Mailbox | string {
  const trimmed = text.trim();
  const open = trimmed.endsWith('>') ? trimmed.lastIndexOf('<') : -1;
  const name = open < 0 ? '' : parseName(trimmed.slice(0, open).trim());
  if (typeof name === 'object') return name.fault;
  const address = parseAddress(open < 0 ? trimmed : trimmed.slice(open + 1, -1).trim());
  return typeof address === 'object' ? address.fault : { name, address };
}

/** Returns the domain of an address. */
export const domainOf = ({ address }: Mailbox): string => address.slice(address.lastIndexOf('@') + 1);

/** Returns whether a domain is reserved for tests and documentation, so that receivers reject its emails. */
export const isReservedDomain = (domain: string): boolean => RESERVED.test(domain);

type Failed = { fault: string };

function parseName(text: string): string | Failed {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/su.exec(text);
  if (!quoted && /["<>@]/.test(text)) return { fault: 'the name has one of " < > @ and must be in double quotes, with \\" for a quote' };
  const name = quoted ? quoted[1].replace(/\\(.)/gsu, '$1').trim() : text;
  if (ENCODED_WORD.test(name)) return { fault: 'the name is encoded; write it as people read it, the service encodes it' };
  if (name.includes('\ufffd')) return { fault: 'the name is not UTF-8' };
  const fault = lineFault(name, MAX_NAME_LENGTH);
  return fault ? { fault: `the name is not valid (${fault.toLowerCase()})` } : name;
}

function parseAddress(text: string): string | Failed {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const host = text.slice(at + 1);
  if (at < 0) return { fault: 'it has no address with @' };
  if (/[,;:<>@()\s]/.test(local) || /[,;<>()\s]/.test(host)) return { fault: 'it is not one address, with or without a name before it' };
  if (/[^\x20-\x7e]/.test(local)) return { fault: 'the part before @ is not ASCII, which many mail servers refuse (RFC 6531)' };
  const domain = host === 'localhost' ? host : normalHost(host.normalize('NFC'));
  if (!domain) return { fault: 'the part after @ is not a domain name' };
  // The rule for local parts is that of every address. Their case is kept.
  const example = `${local}@${host === 'localhost' ? 'local.example' : domain}`;
  if (normalEmail(example) !== example.toLowerCase()) return { fault: 'the part before @ is not valid or too long' };
  return `${local}@${domain}`;
}
