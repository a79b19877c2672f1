/** Has the browser save a text as a file. */
export function saveFile(name: string, type: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // The download has begun when the click returns.
  setTimeout(() => URL.revokeObjectURL(url));
}

/** What spreadsheets take for the beginning of a formula (OWASP, CSV Injection). */
const FORMULA = /^[=+\-@\t\r]/;

/** Returns rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe. */
export const toCsv = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');

function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Has the browser save rows as a CSV file. The byte order mark makes Excel read it as UTF-8. */
export const downloadCsv = (name: string, rows: readonly (readonly (string | number)[])[]): void =>
  saveFile(name, 'text/csv', `\uFEFF${toCsv(rows)}`);
