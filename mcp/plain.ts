// Line ends and controls, marks that nobody sees or that turn the direction of reading, and what Unicode leaves to whoever uses it.
const NOT_TEXT = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]+/gu;

/**
 * What somebody else wrote, as one short line: a model reads it beside our own sentences and must see where it ends.
 * @param most characters, of which the last then is …
 */
export function oneLine(text: string, most = 300): string {
  const line = text.slice(0, most * 4).replace(NOT_TEXT, ' ').replace(/ {2,}/g, ' ').trim();
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line;
}
