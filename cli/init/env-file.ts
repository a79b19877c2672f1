import { isDeepStrictEqual, parseEnv } from 'node:util';

/** A variable as it should be in a `.env` file. */
export type Variable = {
  name: string;
  /** A function generates the value when it is missing. */
  value: string | (() => string);
  /** Another value in the file is replaced. */
  replaces?: boolean;
};

/** What changes in a `.env` file. */
type Completion = {
  /** The text with the lines replaced and those that are missing appended. */
  text: string;
  /** The lines that are appended; empty when nothing is missing. */
  addition: string;
  /** The lines that are replaced. */
  replaced: { from: string; to: string }[];
  /** Names to which the file gives another value, which stays. */
  different: string[];
};

/**
 * Returns a `.env` file with the given variables; all other lines stay. An empty variable counts as missing, since the last line of a
 * name applies.
 * @param text of the file; empty when there is none
 */
export function complete(text: string, variables: readonly Variable[]): Completion {
  const existing = variablesIn(text);
  const missing = variables.filter(({ name }) => !existing[name]);
  const addition = additionTo(
    text,
    missing.map(({ name, value }) => `${name}=${typeof value === 'function' ? value() : value}`),
  );
  const completion: Completion = { text, addition, replaced: [], different: [] };
  for (const { name, value, replaces } of variables) {
    if (!existing[name] || typeof value !== 'string' || existing[name] === value) continue;
    const replacement = replaces ? replaceValue(completion.text, name, value) : null;
    if (!replacement) completion.different.push(name);
    else completion.replaced.push({ from: replacement.from, to: replacement.to });
    completion.text = replacement?.text ?? completion.text;
  }
  return { ...completion, text: completion.text + addition };
}

/** Matches a line that sets a variable: its start up to `=`, and the name. */
const ASSIGNMENT = /^([ \t]*(?:export[ \t]+)?(\w+)[ \t]*=).*$/gm;

/** Returns a text with the last line that sets a variable changed; null when its value is not on one line. */
function replaceValue(text: string, name: string, value: string): { text: string; from: string; to: string } | null {
  const line = [...text.matchAll(ASSIGNMENT)].findLast(([, , each]) => each === name);
  if (!line || valueIn(text, name).includes('\n')) return null;
  const [from, start] = [line[0].replace(/\r$/, ''), line[1]];
  const to = `${start}${value}`;
  const changed = text.slice(0, line.index) + to + text.slice(line.index + from.length);
  // The line may be within a value of several lines.
  return isDeepStrictEqual(variablesIn(changed), { ...variablesIn(text), [name]: value }) ? { text: changed, from, to } : null;
}

/** Returns what to append to a text so that it ends with these lines, with the text's kind of line ends. */
export function additionTo(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const end = /\r\n/.test(text) ? '\r\n' : '\n';
  const start = text === '' || text.endsWith('\n') ? '' : end;
  return start + lines.map((line) => line + end).join('');
}

/** Returns the value of a variable in a `.env` file; empty when there is none. */
export const valueIn = (text: string, name: string): string => variablesIn(text)[name] ?? '';

/** Returns the variables of a `.env` file. */
export const variablesIn = (text: string): Record<string, string | undefined> => ({ ...parseEnv(text.replace(/^\uFEFF/, '')) });
