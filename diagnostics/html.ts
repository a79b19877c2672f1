import { randomBytes } from 'node:crypto';

/** Returns the addresses of the links and forms of a page, in its order. @param page its URL */
export function addressesIn(html: string, page: URL): URL[] {
  return [...html.matchAll(/<(?:a|form)\b[^<>]*>/gi)].flatMap(([tag]) => {
    const address = attributeOf(tag, 'href') || attributeOf(tag, 'action');
    return address && URL.canParse(address, page.href) ? [new URL(address, page)] : [];
  });
}

/** A form, ready to be submitted. */
type Form = { action: URL; body: string; contentType: string | undefined };

const LOGOUT = /log[\s_-]*out|sign[\s_-]*out/i;

/** Returns the form of a page that ends the session, with its hidden fields, or null. */
export function findLogoutForm(html: string, page: URL): Form | null {
  const parts = html.split(/<form\b/i).slice(1);
  for (const part of parts) {
    const end = part.search(/<\/form>/i);
    const form = end < 0 ? part : part.slice(0, end);
    const tag = form.slice(0, form.indexOf('>'));
    if (!LOGOUT.test(form) || !/^post$/i.test(attributeOf(tag, 'method') ?? '')) continue;
    const action = attributeOf(tag, 'action') || page.href;
    if (!URL.canParse(action, page.href)) continue;
    const fields = [...form.matchAll(/<input\b[^<>]*>/gi)].flatMap(([input]): [string, string][] => {
      const name = attributeOf(input, 'name');
      return name ? [[name, attributeOf(input, 'value') ?? '']] : [];
    });
    return { action: new URL(action, page), ...encode(fields, attributeOf(tag, 'enctype') ?? '') };
  }
  return null;
}

function encode(fields: [string, string][], type: string): Omit<Form, 'action'> {
  if (type.toLowerCase() !== 'multipart/form-data') return { body: new URLSearchParams(fields).toString(), contentType: undefined };
  const boundary = `----emailauth${randomBytes(12).toString('hex')}`;
  const parts = fields.map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  return { body: `${parts.join('')}--${boundary}--\r\n`, contentType: `multipart/form-data; boundary=${boundary}` };
}

/** Returns the value of an attribute of a tag, or null. */
function attributeOf(tag: string, name: string): string | null {
  const found = [...tag.matchAll(ATTRIBUTE)].find(([, each]) => each.toLowerCase() === name);
  const value = found?.slice(2).find((text) => text !== undefined);
  return value?.replace(/&(amp|#38|quot|#39|#x27|lt|gt);/gi, (entity) => ENTITIES[entity.toLowerCase()] ?? entity) ?? null;
}

/** Matches an attribute with its value, which is in double quotes, in single quotes or without quotes. */
const ATTRIBUTE = /\s([^\s"'<>/=]+)=(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/g;
const ENTITIES: Record<string, string> = {
  '&amp;': '&',
  '&#38;': '&',
  '&quot;': '"',
  '&#39;': "'",
  '&#x27;': "'",
  '&lt;': '<',
  '&gt;': '>',
};
