import type { Insertion, Wiring } from '../../templates/framework.ts';
import { pathsOf } from './project.ts';

/** The result of connecting an integration with one file. */
type Wired = {
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
 * @param path of the file, whose extension determines the language
 */
export function insertInto(original: string, { after, replaces, insert, import: imported }: Insertion, path: string): string | null {
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

/** Matches the first line of an import that starts at column 0, by language. */
const IMPORT_STARTS: readonly [extension: RegExp, start: RegExp][] = [
  [/\.py$/, /^(?:import|from)\s/],
  [/\.rb$|\.ru$/, /^require(?:_relative)?\b/],
  [/\.php$/, /^(?:require|include)(?:_once)?\b|^use\s/],
  [/./, /^import\b(?!\s*\()|^(?:const|let|var)\s(?!.*=>).*\brequire\s*\(|^(?:const|let|var)\s*\{[^}=]*$|^require\s*\(/],
];
/** Matches a line that stays above all code. */
const PREAMBLE = /^(?:#!|["']use \w+["'];?\s*$|<\?php|declare\s*\(|\/\/|\/?\*|#|\s*$)/;

/**
 * Returns the part of a file up to the anchor with an import added below its last one, or at its start.
 * @param imported the import as the template has it
 * @param style gives it the quotes and semicolons of the file
 */
function addImport(head: string, imported: string, path: string, style: (code: string) => string): string {
  const lines = head.split('\n');
  const isPython = path.endsWith('.py');
  const start = IMPORT_STARTS.find(([extension]) => extension.test(path))?.[1] ?? /^import\s/;
  const last = lines.findLastIndex((line, i) => start.test(line) && isWholeImport(lines, i));
  const at = last >= 0 ? endOfImport(lines, last) + 1 : endOfPreamble(lines, isPython);
  const line = style((isPython ? inPackageStyle : inModuleStyle)(imported.trimEnd(), head, path));
  if (lines.includes(line)) return head;
  // Without other imports, an empty line separates it from the code.
  return [...lines.slice(0, at), line, ...(last < 0 && lines[at]?.trim() ? [''] : []), ...lines.slice(at)].join('\n');
}

/** Whether an opening line such as `const {` belongs to an import and not to other code. */
const isWholeImport = (lines: readonly string[], at: number) =>
  !/^(?:const|let|var)\s*\{[^}]*$/.test(lines[at]) || /\brequire\s*\(/.test(lines[endOfImport(lines, at)]);

/** Returns the index of the last line of the import that starts at a line. */
function endOfImport(lines: readonly string[], start: number): number {
  let depth = 0;
  for (let i = start; i < lines.length; i++) {
    const code = lines[i].replace(/"[^"]*"|'[^']*'/g, '').replace(/(?:\/\/|#).*/, '');
    depth += (code.match(/[({[]/g)?.length ?? 0) - (code.match(/[)}\]]/g)?.length ?? 0);
    if (depth <= 0 && !code.endsWith('\\')) return i;
  }
  return start;
}

/** Returns the index of the first line of code; a docstring of Python is not code. */
function endOfPreamble(lines: readonly string[], isPython: boolean): number {
  let at = 0;
  // Comments directly above code belong to it.
  for (let i = 0; i < lines.length && PREAMBLE.test(lines[i]); i++) if (!/^(?:\/\/|\s*$)/.test(lines[i])) at = i + 1;
  const quote = isPython ? /^[rR]?("""|''')/.exec(lines[at] ?? '')?.[1] : undefined;
  if (!quote) return at;
  const opening = lines[at];
  if (opening.indexOf(quote, opening.indexOf(quote) + 3) > 0) return at + 1;
  return lines.findIndex((line, i) => i > at && line.includes(quote)) + 1 || at;
}

/**
 * Returns an import as a file has them: `import` in an ES module, `require` in CommonJS. In TypeScript it stays `import`, with the
 * extension that the other imports of the file have.
 */
function inModuleStyle(imported: string, text: string, path: string): string {
  const [, names, from] =
    /^import\s+(\{[^}]*\}|\w+)\s+from\s+'([^']+)'/.exec(imported) ??
    /^const\s+(\{[^}]*\}|\w+)\s*=\s*require\('([^']+)'\)/.exec(imported) ??
    [];
  if (!names) return imported;
  if (/ts$/.test(path)) return imported.replace(from, withExtensionOf(text, from));
  if (!isEsModule(text, path, imported)) return `const ${names.replaceAll(' as ', ': ')} = require('${from}');`;
  // Node.js needs the extension in an ES module.
  const resolved = /^\.{1,2}\//.test(from) && !/\.\w+$/.test(from) ? `${from}.js` : from;
  return `import ${names.replaceAll(': ', ' as ')} from '${resolved}';`;
}

/** Returns an import of Python as a file of a package has them: relative, from the package by its name, or from its directory. */
function inPackageStyle(imported: string, text: string, path: string): string {
  const [directory] = path.split('/').slice(-2, -1);
  if (!directory) return imported;
  if (path.endsWith('/__init__.py') || /^[ \t]*from \./m.test(text)) return imported.replace(/^from /, 'from .');
  const isAbsolute = text.split('\n').some((line) => line.trimStart().startsWith(`from ${directory}.`));
  return isAbsolute ? imported.replace(/^from /, `from ${directory}.`) : imported;
}

/** Whether a JavaScript file is an ES module; the import tells it where the file has none. */
function isEsModule(text: string, path: string, imported: string): boolean {
  if (/\.[mc]js$/.test(path)) return path.endsWith('.mjs');
  if (/^import\b(?!\s*\()/m.test(text)) return true;
  return !/\brequire\s*\(/.test(text) && imported.startsWith('import');
}

/** Returns a relative import with the extension of another relative import in the file, if there is one. */
function withExtensionOf(text: string, from: string): string {
  const [, extension] = /\bfrom\s+["']\.{1,2}\/[^"']*?(\.[mc]?[jt]sx?)?["']/.exec(text) ?? [null, null];
  return extension === null ? from : from.replace(/(?:\.[mc]?[jt]s)?$/, extension ?? '');
}
