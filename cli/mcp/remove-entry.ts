import { createScanner, findNodeAtLocation, type Node, parseTree } from 'jsonc-parser';
import type { AssistantClient, Entry } from './clients.ts';
import { inputsIn, NotEditable, parsesTo, readerOf, SERVER_NAME, splitToml, type Tree, tableIn } from './config-text.ts';
import { isTable } from './entry.ts';

/** A range of a text that is removed. */
type Range = { start: number; end: number };

/**
 * Removes our entry from the text of a client's file, and the input of VS Code that only it uses. Everything else keeps its values,
 * which is verified, and its comments, order and indentation.
 * @returns the new file and the entry, or null when the file has none
 * @throws NotEditable
 */
export function removeEntry(
  { format, key }: Pick<AssistantClient, 'format' | 'key'>,
  text: string,
): { text: string; before: Entry } | null {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const bare = text.slice(bom.length);
  const read = readerOf(format);
  const tree = read(bare);
  const { [SERVER_NAME]: found, ...others } = tableIn(tree, key);
  if (!isTable(found)) return null;
  const ownInputs = ownInputsOf(tree, found);
  const isKept = (input: { id?: unknown }) => !ownInputs.includes(String(input?.id));
  const wanted: Tree = { ...tree, [key]: others, ...(ownInputs.length > 0 && { inputs: inputsIn(tree).filter(isKept) }) };
  const edited = format === 'toml' ? removeToml(bare, key) : removeJson(bare, [[key, SERVER_NAME], ...pathsOfInputs(tree, ownInputs)]);
  // smol-toml has no table for the servers when none is left.
  const { [key]: _, ...withoutServers } = wanted;
  const isEmptyToml = format === 'toml' && Object.keys(others).length === 0;
  if (!parsesTo(read, edited, wanted) && !(isEmptyToml && parsesTo(read, edited, withoutServers)))
    throw new NotEditable('its format cannot be edited safely');
  return { text: bom + edited, before: found };
}

/** Returns the ids of the inputs that `mcp install` added and that nothing but our entry refers to. */
function ownInputsOf({ inputs, ...others }: Tree, entry: Entry): string[] {
  if (inputs === undefined) return [];
  const references = (value: unknown) => [...JSON.stringify(value).matchAll(/\$\{input:(emailauth-token-[\w.-]+)\}/g)].map(([, id]) => id);
  const all = references(others);
  return [...new Set(references(entry))].filter((id) => all.filter((each) => each === id).length === references(entry).length);
}

const pathsOfInputs = (tree: Tree, ids: readonly string[]): (string | number)[][] =>
  // From the last one, so that the positions of the others stay.
  (ids.length === 0 ? [] : inputsIn(tree)).flatMap(({ id }, i) => (ids.includes(String(id)) ? [['inputs', i]] : [])).reverse();

function removeJson(text: string, paths: (string | number)[][]): string {
  let edited = text;
  for (const path of paths) {
    const root = parseTree(edited) as Node;
    const value = findNodeAtLocation(root, path) as Node;
    for (const { start, end } of rangesOf(edited, value.parent?.type === 'property' ? value.parent : value))
      edited = edited.slice(0, start) + edited.slice(end);
  }
  return edited;
}

/** Returns what is removed with a property or an item, from the end of the text on: its lines, and one comma beside it. */
function rangesOf(text: string, node: Node): Range[] {
  const siblings = node.parent?.children ?? [];
  const at = siblings.indexOf(node);
  const end = node.offset + node.length;
  const comma = commaAfter(text, end);
  const own = wholeLines(text, { start: node.offset, end: comma?.end ?? end });
  const previous = siblings[at - 1];
  // The last one: the comma of the previous one would be left over. A comment may be between them.
  const before = comma || !previous ? null : commaAfter(text, previous.offset + previous.length);
  return before ? [own, before] : [own];
}

/** Returns the comma that follows a position, behind white space and comments; null when another token follows. */
function commaAfter(text: string, position: number): Range | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(position);
  scanner.scan();
  const start = scanner.getTokenOffset();
  return text[start] === ',' ? { start, end: start + 1 } : null;
}

/** Returns a range with the white space before it, up to the previous line, when nothing else is on its lines. */
function wholeLines(text: string, { start, end }: Range): Range {
  const isAlone = /^[ \t]*(?:\r?\n|$)/.test(text.slice(end));
  const [blank] = /(?:\r?\n)?(?<![ \t])[ \t]*$/.exec(text.slice(0, start)) as RegExpExecArray;
  return isAlone ? { start: start - blank.length, end } : { start, end };
}

function removeToml(text: string, key: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const { above, below } = splitToml(text, key);
  // The blank line that separated the entry from what is above it.
  if (above.at(-1) === '' && (below ?? []).every((line, i) => line === '' && i === 0)) above.pop();
  return [...above, ...(below ?? [])].join(eol);
}
