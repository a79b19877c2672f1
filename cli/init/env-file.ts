import { parseEnv } from 'node:util';

/** What a `.env` file lacks. */
export type Completion = {
  /** The lines to append; empty: it has everything. */
  addition: string;
  /** Names that the addition sets. */
  added: string[];
  /** Names that the file sets to something else than was wanted; they stay. */
  different: string[];
};

/**
 * Completes a `.env` file without touching what stands in it. A variable that is there but empty counts as missing: whoever
 * reads the file takes the last line of a name.
 * @param text of the file; empty: there is none
 * @param variables with their values; a value that is made only when it is missing is a function
 */
export function complete(text: string, variables: readonly { name: string; value: string | (() => string) }[]): Completion {
  const there = parseEnv(text.replace(/^\uFEFF/, '')) as Record<string, string | undefined>;
  const missing = variables.filter(({ name }) => !there[name]);
  const lines = missing.map(({ name, value }) => `${name}=${typeof value === 'function' ? value() : value}`);
  return {
    addition: additionTo(text, lines),
    added: missing.map(({ name }) => name),
    different: variables
      .filter(({ name, value }) => there[name] && typeof value === 'string' && there[name] !== value)
      .map(({ name }) => name),
  };
}

/** What to append to a text so that it ends in these lines, with its own kind of line ends. */
export function additionTo(text: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const end = /\r\n/.test(text) ? '\r\n' : '\n';
  const start = text === '' || text.endsWith('\n') ? '' : end;
  return start + lines.map((line) => line + end).join('');
}

/** The value of a variable in a `.env` file; empty: none. */
export const valueIn = (text: string, name: string): string => parseEnv(text.replace(/^\uFEFF/, ''))[name] ?? '';
