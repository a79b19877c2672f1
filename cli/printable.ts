// What terminal.ts sets itself: bold, dim, underlined, and four colours, with their ends.
const OWN_STYLE = '\\x1b\\[(?:1|2|4|22|24|3[1-36]|39)m';
// What terminals obey (C0, DEL, C1), and marks that turn the direction of writing and so the meaning of what is read.
const CONTROL = '[\\p{Cc}\\p{Bidi_Control}\\u2028\\u2029\\ufeff]';
const styledOrControl = new RegExp(`(${OWN_STYLE})|(?![\\n\\t])${CONTROL}`, 'gu');
const control = new RegExp(CONTROL, 'gu');

/**
 * A text that no terminal takes for a command, whoever wrote it: line ends and tabs stay, and the styles of `Terminal.style`.
 */
export function printable(text: string): string {
  return text.replace(styledOrControl, (_, style?: string) => style ?? '');
}

/** JSON whose strings hold such characters as escapes alone; what it means stays the same. */
export function printableJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, 2).replace(control, (character) => (character === '\n' ? character : escaped(character)));
}
