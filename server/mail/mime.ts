const HEX = Array.from({ length: 256 }, (_, byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`);
/** RFC 2045 §6.7: at most 76 characters in a line, with the soft line break and an escaped dot. */
const MAX_LINE = 73;

/**
 * Returns a text with LF line ends in quoted-printable (RFC 2045 §6.7), without a line break at its end.
 * A soft line break and more quoted-printable text may follow. No line begins with a dot, which SMTP would have to double
 * (RFC 5321 §4.5.2).
 */
export function quotedPrintable(text: string): string {
  return text
    .split('\n')
    .map((line) => fold(/^[\x21-\x7e]*$/.test(line) ? line.replaceAll('=', '=3D') : encodedLine(line)))
    .join('\r\n');
}

function encodedLine(line: string): string {
  const bytes = Buffer.from(line);
  let encoded = '';
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    const printable = byte > 0x20 && byte < 0x7f && byte !== 0x3d;
    // White space at the end of a line would be lost in transport.
    const space = (byte === 0x20 || byte === 0x09) && index < bytes.length - 1;
    encoded += printable || space ? String.fromCharCode(byte) : HEX[byte];
  }
  return encoded;
}

function fold(encoded: string): string {
  let folded = '';
  let start = 0;
  while (encoded.length - start > MAX_LINE) {
    let end = start + MAX_LINE;
    // An escape of three characters must not be split.
    if (encoded[end - 1] === '=') end -= 1;
    else if (encoded[end - 2] === '=') end -= 2;
    folded += `${undotted(encoded.slice(start, end))}=\r\n`;
    start = end;
  }
  return folded + undotted(encoded.slice(start));
}

function undotted(line: string): string {
  return line.startsWith('.') ? `=2E${line.slice(1)}` : line;
}

/** Returns the value of an unstructured header (RFC 5322 §2.2.1), folded: unchanged when it is ASCII, else as encoded words (RFC 2047). */
export function headerText(text: string): string {
  const clean = text.replace(/\p{Cc}+/gu, ' ');
  if (/^[\x20-\x7e]*$/.test(clean) && !clean.includes('=?')) return clean.replace(/(.{40,70}) (?=\S)/g, '$1\r\n ');
  return encodedWords(clean);
}

/** Returns the value of an address header with one mailbox (RFC 5322 §3.4). */
export function mailboxHeader(mailbox: { name: string; address: string }): string {
  const name = mailbox.name.replace(/\p{Cc}+/gu, ' ').trim();
  if (name === '') return mailbox.address;
  const phrase = /^[\x20-\x7e]*$/.test(name) && !name.includes('=?') ? `"${name.replace(/[\\"]/g, '\\$&')}"` : encodedWords(name);
  // RFC 5322 §2.1.1: lines of at most 78 characters.
  const space = phrase.length + mailbox.address.length > 60 ? '\r\n ' : ' ';
  return `${phrase}${space}<${mailbox.address}>`;
}

function encodedWords(text: string): string {
  const words: string[] = [];
  let word = '';
  for (const character of text) {
    // 45 bytes become 60 characters of base64; RFC 2047 §2 allows 75 characters for a whole word, and 76 for a line, which begins with
    // the name of the header.
    if (Buffer.byteLength(word + character) > (words.length === 0 ? 39 : 45)) {
      words.push(word);
      word = '';
    }
    word += character;
  }
  words.push(word);
  return words.map((part) => `=?utf-8?B?${Buffer.from(part).toString('base64')}?=`).join('\r\n ');
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes a text for HTML, in an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
