import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  type Edit,
  type FormattingOptions,
  modify,
  type ParseError,
  parse as parseJson,
  printParseErrorCode,
} from 'jsonc-parser';
import { parse as parseToml, stringify as stringifyToml, TomlError } from 'smol-toml';
import type { AssistantClient, Entry } from './clients.ts';
import { isTable, mergeEntry, type WantedEntry } from './entry.ts';

/** The name of our server in every client. */
export const SERVER_NAME = 'emailauth';

/** A file cannot be edited; the message has the place and the reason, without a full stop. */
export class NotEditable extends Error {}

export type Edited = {
  /** The whole new file. */
  text: string;
  /** Its previous entry of our name; null when there was none. */
  before: Entry | null;
  after: Entry;
  /** Whether credentials of the previous entry were left out because they are for another service. */
  isKeyLeftOut: boolean;
};

export type Tree = Record<string, unknown>;

/** Returns the reader of a client's format, which throws NotEditable. */
export const readerOf = (format: AssistantClient['format']): ((text: string) => Tree) =>
  format === 'toml' ? readToml : readJson(format === 'jsonc');

/**
 * Puts our entry into the text of a client's file. Everything else keeps its values, which is verified, and its comments, order and
 * indentation. What a person added to an existing entry stays, as mergeEntry describes.
 * @param text of the file; empty when there is none
 * @throws NotEditable
 */
export function putEntry(
  client: Pick<AssistantClient, 'format' | 'key'>,
  text: string,
  { entry, inputs }: Pick<WantedEntry, 'entry' | 'inputs'>,
): Edited {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const bare = text.slice(bom.length);
  const read = readerOf(client.format);
  const tree = read(bare);
  const servers = tableIn(tree, client.key);
  const found = Object.hasOwn(servers, SERVER_NAME) ? servers[SERVER_NAME] : undefined;
  const before = isTable(found) ? found : null;
  const { after, isKeyLeftOut } = mergeEntry(before, entry);
  const missing = missingInputs(tree, inputs);
  if (before && isSame(before, after) && missing.length === 0) return { text, before, after, isKeyLeftOut };
  const wanted = {
    ...tree,
    [client.key]: { ...servers, [SERVER_NAME]: after },
    ...(missing.length > 0 && { inputs: [...inputsIn(tree), ...missing] }),
  };
  const edited = client.format === 'toml' ? editToml(bare, client.key, after) : editJson(bare, client.key, after, missing);
  // Ensures for any input that nothing else has changed.
  if (!parsesTo(read, edited, wanted)) throw new NotEditable('its format cannot be edited safely');
  return { text: bom + edited, before, after, isKeyLeftOut };
}

/** Returns a file of the client that contains only the entry. */
export function formatEntry(
  { format, key }: Pick<AssistantClient, 'format' | 'key'>,
  entry: Entry,
  inputs: WantedEntry['inputs'] = [],
): string {
  const tree = { ...(inputs.length > 0 && { inputs }), [key]: { [SERVER_NAME]: entry } };
  return format === 'toml' ? `${stringifyToml(tree).trim()}\n` : `${JSON.stringify(tree, null, 2)}\n`;
}

function readJson(comments: boolean): (text: string) => Tree {
  return (text) => {
    if (text.trim() === '') return {};
    const errors: ParseError[] = [];
    const tree: unknown = parseJson(text, errors, { disallowComments: !comments, allowTrailingComma: comments });
    const [first] = errors;
    if (first) throw new NotEditable(`${positionOf(text, first.offset)}: ${toWords(printParseErrorCode(first.error))}`);
    if (!isTable(tree)) throw new NotEditable('line 1: there is no object');
    return tree;
  };
}

function editJson(text: string, key: string, entry: Entry, missing: WantedEntry['inputs']): string {
  const indentation = indentationOf(text);
  let edited = text.trim() === '' ? '{}\n' : text;
  const put = (path: (string | number)[], value: unknown, isArrayInsertion = false) => {
    // A file of one line is formatted as a whole.
    const formattingOptions = edited.trim().includes('\n') ? undefined : indentation.formatting;
    const edits = modify(edited, path, value, { formattingOptions, isArrayInsertion });
    edited = applyEdits(edited, formattingOptions ? edits : edits.flatMap((each) => formatEdit(edited, each, indentation)));
  };
  put([key, SERVER_NAME], entry);
  for (const input of missing) put(['inputs', -1], input, true);
  return edited;
}

type Indentation = { unit: string; eol: string; formatting: FormattingOptions };

function indentationOf(text: string): Indentation {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const isTab = unit.startsWith('\t');
  return { unit: isTab ? '\t' : unit, eol, formatting: { insertSpaces: !isTab, tabSize: isTab ? 1 : unit.length, eol } };
}

/** Returns an edit with line breaks and indentation. The library's own formatting would also change the neighboring lines. */
function formatEdit(text: string, { offset, length, content }: Edit, { unit, eol }: Indentation): Edit[] {
  const [, comma, name = '', json] = /^(,?)("[^"]*": )?(.*)$/s.exec(content) as RegExpExecArray;
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const outer = /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
  const isFirst = length === 0 && comma === '';
  const indent = isFirst ? outer + unit : outer;
  const value = JSON.stringify(JSON.parse(json), null, unit).replaceAll('\n', eol + indent);
  if (length > 0) return [{ offset, length, content: value }];
  const rest = text.slice(offset);
  // A comment stays on the line of the value before it.
  const [beside = '', ownComma = ''] = (comma && /^[ \t]*(,?)[ \t]*(?:\/\/.*|\/\*.*?\*\/)[ \t]*(?=\r?\n)/.exec(rest)) || [];
  const end = isFirst && !/^[ \t]*\r?\n/.test(rest) ? eol + outer : '';
  const line = `${eol}${indent}${name}${value}`;
  if (beside === '') return [{ offset, length, content: comma + line + end }];
  const added = { offset: offset + beside.trimEnd().length, length, content: line + ownComma };
  return ownComma ? [added] : [{ offset, length, content: comma }, added];
}

function readToml(text: string): Tree {
  try {
    return parseToml(text) as Tree;
  } catch (error) {
    if (error instanceof TomlError) throw new NotEditable(`line ${error.line}, column ${error.column}: ${firstLine(error.message)}`);
    throw error;
  }
}

/** Replaces the tables of our name, and those below them, by the new entry; without any, appends it. */
function editToml(text: string, key: string, entry: Entry): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const block = formatEntry({ format: 'toml', key }, entry).trimEnd().split('\n');
  const { above, below } = splitToml(text, key);
  if (below) return [...above, ...block, ...below].join(eol);
  const before = text.trimEnd();
  return [...(before ? [before, ''] : []), ...block, ''].join(eol);
}

/**
 * Returns the lines of a file above and below the tables of our name, without these; `below` is null when there are none.
 * smol-toml would lose comments.
 */
export function splitToml(text: string, key: string): { above: string[]; below: string[] | null } {
  const lines = text.split(/\r?\n/);
  const kept: string[] = [];
  let at = -1;
  let isOurTable = false;
  /** Blank lines and comments, which belong to the line after them. */
  let between: string[] = [];
  for (const line of lines) {
    const path = parseHeader(line);
    if (path) isOurTable = path[0] === key && path[1] === SERVER_NAME;
    if (isOurTable && path && at < 0) {
      at = kept.push(...between);
      between = [];
    }
    if (isOurTable && !path && /^\s*(?:#.*)?$/.test(line)) between.push(line);
    else if (isOurTable) between = [];
    else {
      kept.push(...between, line);
      between = [];
    }
  }
  return at < 0 ? { above: kept, below: null } : { above: kept.slice(0, at), below: [...kept.slice(at), ...between] };
}

/** Returns the names in a header such as `[a."b".c]`, or null for any other line. */
function parseHeader(line: string): string[] | null {
  const [, header] = /^\s*(\[{1,2}[^[\]]+\]{1,2})\s*(?:#.*)?$/.exec(line) ?? [];
  if (!header) return null;
  try {
    const names: string[] = [];
    for (let table: unknown = parseToml(header); isTable(table) && Object.keys(table).length > 0; table = table[names[names.length - 1]])
      names.push(Object.keys(table)[0]);
    return names;
  } catch {
    return null;
  }
}

/** Returns the property of a file with the servers; empty when there is none. @throws NotEditable */
export function tableIn(tree: Tree, key: string): Tree {
  if (!Object.hasOwn(tree, key)) return {};
  const value = tree[key];
  if (isTable(value)) return value;
  throw new NotEditable(`"${key}" is ${Array.isArray(value) ? 'a list instead of' : 'not'} an object`);
}

/** Returns the inputs of VS Code. @throws NotEditable */
export function inputsIn(tree: Tree): { id?: unknown }[] {
  const { inputs = [] } = tree;
  if (Array.isArray(inputs)) return inputs;
  throw new NotEditable('"inputs" is not a list');
}

const missingInputs = (tree: Tree, inputs: WantedEntry['inputs']) =>
  inputs.length === 0 ? [] : inputs.filter(({ id }) => !inputsIn(tree).some((each) => each?.id === id));

/** Whether an edited text has exactly the wanted values. */
export function parsesTo(read: (text: string) => Tree, text: string, wanted: Tree): boolean {
  try {
    return isSame(read(text), wanted);
  } catch (error) {
    if (error instanceof NotEditable) return false;
    throw error;
  }
}

const isSame = (one: Tree, other: Tree) => isDeepStrictEqual(plain(one), plain(other));
/** Returns the tree without prototypes, which differ between the parsers. */
const plain = (tree: Tree): unknown => JSON.parse(JSON.stringify(tree, (_, value) => (typeof value === 'bigint' ? String(value) : value)));

function positionOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${lines[lines.length - 1].length + 1}`;
}

/** Returns `PropertyNameExpected` as words. */
const toWords = (code: string) =>
  code
    .replace(/([A-Z])/g, ' $1')
    .trim()
    .toLowerCase();
const firstLine = (text: string) => text.split('\n')[0].replace(/^Invalid TOML document: /, '');
