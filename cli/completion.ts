import { type CommandRow, partsOf } from './command-row.ts';
import { commands, FAMILIES, GLOBAL_FLAGS } from './commands.ts';

/** A value that a shell may put in, and what it is. */
export type Candidate = readonly [value: string, about: string];

export type Suggestion = {
  /** Those that begin like what is typed. */
  candidates: Candidate[];
  /** What else is wanted there, which the table cannot know. */
  from: 'sites' | 'frameworks' | 'files' | undefined;
  /** What is typed of the word, without `--flag=`. */
  typed: string;
  /** Flags given before that say which service is meant. */
  given: { host?: string; profile?: string };
};

type Line = { words: string[]; flags: Map<string, string>; pending?: string };

/**
 * What may come next on a command line.
 * @param line the words behind `emailauth`, the last of them the one that is being typed, maybe empty
 */
export function suggestionFor(line: readonly string[]): Suggestion {
  const current = line[line.length - 1] ?? '';
  const { words, flags, pending } = read(line.slice(0, -1));
  const row = rowOf(words);
  const given = { host: flags.get('--host'), profile: flags.get('--profile') };
  const suggest = (typed: string, all: readonly Candidate[], from?: Suggestion['from']): Suggestion => {
    return { candidates: all.filter(([value]) => value.startsWith(typed)), from, typed, given };
  };
  const suggestValues = (typed: string, name: string) => {
    const choices = row?.choices?.[name];
    return typeof choices === 'string'
      ? suggest(typed, [], choices)
      : suggest(
          typed,
          (choices ?? []).map((value): Candidate => [value, '']),
        );
  };
  if (pending) return suggestValues(current, pending);
  const [, flag, value] = /^(--[\w-]+)=(.*)$/s.exec(current) ?? [];
  if (flag) return suggestValues(value, flag);
  if (current.startsWith('-')) {
    return suggest(
      current,
      flagsOf(row).filter(([name]) => !flags.has(name)),
    );
  }
  if (!row) return suggest(current, wordsAfter(words));
  const argument = partsOf(row).args[words.length - partsOf(row).name.split(' ').length];
  if (partsOf(row).name === words.join(' ') && wordsAfter(words).length > 0) return suggest(current, wordsAfter(words));
  return words[0] === 'help' || !argument ? suggest(current, []) : suggestValues(current, argument.replace(/\W/g, ''));
}

/** Tells the words of a line from its flags. `pending` is a flag at its end that still wants its value. */
function read(line: readonly string[]): Line {
  const read: Line = { words: [], flags: new Map() };
  for (const word of line) {
    if (read.pending) {
      read.flags.set(read.pending, word);
      read.pending = undefined;
    } else if (word.startsWith('-') && word !== '-') {
      const [name, value] = word.split(/=(.*)/s);
      read.flags.set(name, value ?? '');
      if (value === undefined && takesValue(name, rowOf(read.words))) read.pending = name;
    } else if (word !== 'help' || read.words.length > 0) read.words.push(word);
  }
  return read;
}

/** The row with the longest name: `mcp` is a command, and the family of others. */
function rowOf(words: readonly string[]): CommandRow | undefined {
  const rows = commands.filter((row) => `${words.join(' ')} `.startsWith(`${partsOf(row).name} `));
  return rows.sort((a, b) => partsOf(b).name.length - partsOf(a).name.length)[0];
}

/** Its own first, and in the place of a global one. */
const allFlags = (row: CommandRow | undefined) => ({ ...row?.flags, ...GLOBAL_FLAGS });

const takesValue = (name: string, row: CommandRow | undefined) => Object.keys(allFlags(row)).some((flag) => flag.startsWith(`${name} <`));

function flagsOf(row: CommandRow | undefined): Candidate[] {
  const found = new Map<string, string>();
  for (const [flag, about] of Object.entries(allFlags(row))) {
    const name = /--[\w-]+/.exec(flag)?.[0] ?? flag;
    if (!found.has(name)) found.set(name, about);
  }
  return [...found];
}

/** The words that make a command with those before: after nothing the commands and families, after a family its commands. */
function wordsAfter(words: readonly string[]): Candidate[] {
  const found = new Map<string, string>();
  for (const row of commands) {
    const names = partsOf(row).name.split(' ');
    if (words.length >= names.length || words.some((word, i) => word !== names[i])) continue;
    const next = names[words.length];
    found.set(next, names.length > words.length + 1 ? FAMILIES[next] : row.summary);
  }
  if (words.length === 0) found.set('help', 'print the help of a command');
  return [...found];
}
