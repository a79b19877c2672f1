import type { Wiring } from '../../templates/framework.ts';
import { pathsOf } from './detection.ts';
import { addImport } from './imports.ts';

/** The result of connecting an integration with one file. */
export type Wired = {
  /** The file, or null when no candidate can be changed. */
  path: string | null;
  /** Its text afterwards; the same as before when it is connected already. */
  text: string;
};

/**
 * Returns the first candidate of a wiring that contains its anchor, with the lines inserted.
 * @param project.entries the files that `$ENTRY` stands for
 * @param project.read returns the text of a file, or null
 */
export function connect(
  wiring: Wiring,
  { root, entries, read }: { root: string; entries: readonly string[]; read: (path: string) => string | null },
): Wired {
  const candidates = wiring.files.flatMap((file) => (file === '$ENTRY' ? entries : pathsOf(root, file)));
  const texts = candidates.flatMap((path) => {
    const text = read(path);
    return text === null ? [] : [{ path, text }];
  });
  const connected = texts.find(({ text }) => text.includes(wiring.unless));
  if (connected) return connected;
  for (const insertion of [wiring, ...(wiring.otherwise ? [wiring.otherwise] : [])]) {
    for (const { path, text } of texts) {
      const changed = insertInto(text, insertion, path);
      if (changed !== null) return { path, text: changed };
    }
  }
  return { path: null, text: '' };
}

/**
 * Returns a text with the lines of a wiring inserted in its style: line ends, quotes, semicolons and kind of import; null when
 * the anchor is missing.
 * @param path of the file, whose extension tells the language
 */
export function insertInto(
  original: string,
  { after, replaces, insert, import: imported }: Pick<Wiring, 'after' | 'replaces' | 'insert' | 'import'>,
  path: string,
): string | null {
  const isWindows = original.includes('\r\n');
  const text = original.replaceAll('\r\n', '\n');
  const match = after.exec(text);
  if (!match) return null;
  const style = styleOf(text, path);
  const withLineEnds = (changed: string) => (isWindows ? changed.replaceAll('\n', '\r\n') : changed);
  if (replaces) {
    const before = text.slice(0, match.index);
    const withImport = imported ? addImport(before, imported, path, style) : before;
    return withLineEnds(withImport + style(insert) + text.slice(match.index + match[0].length));
  }
  const matchEnd = match.index + match[0].trimEnd().length;
  const end = text.indexOf('\n', matchEnd) < 0 ? text.length : text.indexOf('\n', matchEnd);
  const matchStart = match.index + match[0].length - match[0].trimStart().length;
  // In a block that the anchor opens, the lines are indented as its first line.
  const indent = match[0].trimEnd().endsWith('{')
    ? (/^\s*\n([ \t]*)/.exec(text.slice(matchEnd))?.[1] ?? '')
    : (/^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', matchStart) + 1, matchStart))?.[0] ?? '');
  const lines = insert.replaceAll('$APP', () => match.groups?.app ?? 'app').replace(/\n$/, '');
  const indented = lines === '' ? '' : `${style(lines).replace(/^(?=.)/gm, indent)}\n`;
  const head = text.slice(0, end);
  const rest = text.slice(end).replace(/^\n/, '');
  const withImport = imported ? addImport(head, imported, path, style) : head;
  const changed = indented || rest ? `${withImport}\n${indented}${rest}` : withImport + text.slice(end);
  return withLineEnds(changed);
}

const isJavaScript = (path: string) => /\.[mc]?[jt]sx?$/.test(path) || !path.includes('.');

/** Returns a function that gives JavaScript the quotes and semicolons of a file. */
function styleOf(text: string, path: string): (code: string) => string {
  if (!isJavaScript(path)) return (code) => code;
  const statements = text
    .split('\n')
    .filter((line) => /^(?:import|export|const|let|var|\}\s*from)\b/.test(line) && /["');]$|["')];?$/.test(line));
  const count = (pattern: RegExp) => statements.filter((line) => pattern.test(line)).length;
  const hasDoubleQuotes = count(/"/) > count(/'/);
  const hasSemicolons = count(/;$/) * 2 >= statements.length;
  return (code) => {
    const quoted = hasDoubleQuotes ? code.replace(/'([^'"\n]*)'/g, '"$1"') : code;
    return hasSemicolons ? quoted : quoted.replace(/;$/gm, '');
  };
}
