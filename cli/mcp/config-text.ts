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
import type { Wanted } from './entry.ts';
import { isTable, mergedEntry } from './entry-before.ts';

/** The name that the server has in every client. */
export const SERVER = 'emailauth';

/** A file that cannot be edited; the message says where and why, without its end. */
export class NotEditable extends Error {}

export type Edited = {
  /** The whole file as it is to be. */
  text: string;
  /** Its entry of our name as it was; null: it had none. */
  before: Entry | null;
  after: Entry;
  /** Whether a key of the entry before was left out, as it is for another service. */
  isKeyLeftOut: boolean;
};

type Tree = Record<string, unknown>;

/**
 * Puts the entry of our name into the text of a client's file. Everything else keeps its meaning, which is checked, and its
 * looks: comments, order and indentation. Of an entry that is there what somebody added stays, as mergedEntry says.
 * @param text of the file; empty: there is none
 * @throws NotEditable
 */
export function putEntry(
  client: Pick<AssistantClient, 'format' | 'key'>,
  text: string,
  { entry, inputs }: Pick<Wanted, 'entry' | 'inputs'>,
): Edited {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const bare = text.slice(bom.length);
  const read = client.format === 'toml' ? readToml : readJson(client.format === 'jsonc');
  const tree = read(bare);
  const servers = tableIn(tree, client.key);
  const found = Object.hasOwn(servers, SERVER) ? servers[SERVER] : undefined;
  const before = isTable(found) ? found : null;
  const { after, isKeyLeftOut } = mergedEntry(before, entry);
  const missing = missingInputs(tree, inputs);
  if (before && isSame(before, after) && missing.length === 0) return { text, before, after, isKeyLeftOut };
  const wanted = {
    ...tree,
    [client.key]: { ...servers, [SERVER]: after },
    ...(missing.length > 0 && { inputs: [...inputsIn(tree), ...missing] }),
  };
  const edited = client.format === 'toml' ? editToml(bare, client.key, after) : editJson(bare, client.key, after, missing);
  // Whatever the text was like: nothing else may have changed.
  if (!isReadAs(read, edited, wanted)) throw new NotEditable('it is written in a way that cannot be edited safely');
  return { text: bom + edited, before, after, isKeyLeftOut };
}

/** The entry alone, as it stands in a file of the client. */
export function entryText({ format, key }: Pick<AssistantClient, 'format' | 'key'>, entry: Entry, inputs: Wanted['inputs'] = []): string {
  const tree = { ...(inputs.length > 0 && { inputs }), [key]: { [SERVER]: entry } };
  return format === 'toml' ? `${stringifyToml(tree).trim()}\n` : `${JSON.stringify(tree, null, 2)}\n`;
}

function readJson(comments: boolean): (text: string) => Tree {
  return (text) => {
    if (text.trim() === '') return {};
    const errors: ParseError[] = [];
    const tree: unknown = parseJson(text, errors, { disallowComments: !comments, allowTrailingComma: comments });
    const [first] = errors;
    if (first) throw new NotEditable(`${placeOf(text, first.offset)}: ${wordsOf(printParseErrorCode(first.error))}`);
    if (!isTable(tree)) throw new NotEditable('line 1: there is no object');
    return tree;
  };
}

function editJson(text: string, key: string, entry: Entry, missing: Wanted['inputs']): string {
  const layout = layoutOf(text);
  let edited = text.trim() === '' ? '{}\n' : text;
  const put = (path: (string | number)[], value: unknown, isArrayInsertion = false) => {
    // One line has no looks to keep.
    const formattingOptions = edited.trim().includes('\n') ? undefined : layout.formatting;
    const edits = modify(edited, path, value, { formattingOptions, isArrayInsertion });
    edited = applyEdits(edited, formattingOptions ? edits : edits.flatMap((each) => laidOut(edited, each, layout)));
  };
  put([key, SERVER], entry);
  for (const input of missing) put(['inputs', -1], input, true);
  return edited;
}

type Layout = { unit: string; eol: string; formatting: FormattingOptions };

function layoutOf(text: string): Layout {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const isTab = unit.startsWith('\t');
  return { unit: isTab ? '\t' : unit, eol, formatting: { insertSpaces: !isTab, tabSize: isTab ? 1 : unit.length, eol } };
}

/** An edit over several lines. The library's own formatting would lay out the lines beside it, too. */
function laidOut(text: string, { offset, length, content }: Edit, { unit, eol }: Layout): Edit[] {
  const [, comma, name = '', json] = /^(,?)("[^"]*": )?(.*)$/s.exec(content) as RegExpExecArray;
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const outer = /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
  const isFirst = length === 0 && comma === '';
  const indent = isFirst ? outer + unit : outer;
  const value = JSON.stringify(JSON.parse(json), null, unit).replaceAll('\n', eol + indent);
  if (length > 0) return [{ offset, length, content: value }];
  const rest = text.slice(offset);
  // A comment stays beside what it is about.
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

/** The tables of our name go, with those below them, and what they are to be takes their place; else it comes at the end. */
function editToml(text: string, key: string, entry: Entry): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split(/\r?\n/);
  const block = entryText({ format: 'toml', key }, entry).trimEnd().split('\n');
  const kept: string[] = [];
  let at = -1;
  let isOurs = false;
  /** Blank lines and comments, which belong to what follows. */
  let between: string[] = [];
  for (const line of lines) {
    const path = pathOfHeader(line);
    if (path) isOurs = path[0] === key && path[1] === SERVER;
    if (isOurs && path && at < 0) {
      at = kept.push(...between);
      between = [];
    }
    if (isOurs && !path && /^\s*(?:#.*)?$/.test(line)) between.push(line);
    else if (isOurs) between = [];
    else {
      kept.push(...between, line);
      between = [];
    }
  }
  if (at >= 0) return [...kept.slice(0, at), ...block, ...kept.slice(at), ...between].join(eol);
  const above = text.trimEnd();
  return [...(above ? [above, ''] : []), ...block, ''].join(eol);
}

/** `[a."b".c]` as its names; null: the line is no such header. */
function pathOfHeader(line: string): string[] | null {
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

function tableIn(tree: Tree, key: string): Tree {
  if (!Object.hasOwn(tree, key)) return {};
  const value = tree[key];
  if (isTable(value)) return value;
  throw new NotEditable(`"${key}" is no ${Array.isArray(value) ? 'object but a list' : 'object'}`);
}

function inputsIn(tree: Tree): { id?: unknown }[] {
  const { inputs = [] } = tree;
  if (Array.isArray(inputs)) return inputs;
  throw new NotEditable('"inputs" is no list');
}

const missingInputs = (tree: Tree, inputs: Wanted['inputs']) =>
  inputs.length === 0 ? [] : inputs.filter(({ id }) => !inputsIn(tree).some((each) => each?.id === id));

function isReadAs(read: (text: string) => Tree, text: string, wanted: Tree): boolean {
  try {
    return isSame(read(text), wanted);
  } catch (error) {
    if (error instanceof NotEditable) return false;
    throw error;
  }
}

const isSame = (one: Tree, other: Tree) => isDeepStrictEqual(plain(one), plain(other));
/** Without prototypes, which the parsers choose differently. */
const plain = (tree: Tree): unknown => JSON.parse(JSON.stringify(tree, (_, value) => (typeof value === 'bigint' ? String(value) : value)));

function placeOf(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n');
  return `line ${lines.length}, column ${lines[lines.length - 1].length + 1}`;
}

/** `PropertyNameExpected` in words. */
const wordsOf = (code: string) =>
  code
    .replace(/([A-Z])/g, ' $1')
    .trim()
    .toLowerCase();
const firstLine = (text: string) => text.split('\n')[0].replace(/^Invalid TOML document: /, '');
