/**
 * The `name=value; name=value` of DKIM and DMARC records (RFC 6376 §3.2, RFC 7489 §6.4), in order.
 * @returns null when it is no such list or a name stands there twice
 */
export function parseTags(text: string): Map<string, string> | null {
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
