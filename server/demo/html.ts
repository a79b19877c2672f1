/** Text that is safe HTML already. */
export type Html = { html: string };

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A template whose values are escaped, unless they are Html themselves. */
export function html(strings: TemplateStringsArray, ...values: (string | number | Html | Html[])[]): Html {
  return { html: String.raw({ raw: strings }, ...values.map(toHtml)) };
}

function toHtml(value: string | number | Html | Html[]): string {
  if (Array.isArray(value)) return value.map(toHtml).join('');
  if (typeof value === 'object') return value.html;
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
