import { type CommandRow, GROUPS, partsOf } from './command-row.ts';
import { commands, FAMILIES, GLOBAL_FLAGS } from './commands.ts';
import { EXIT_MEANINGS } from './exit.ts';

type Pair = readonly [term: string, meaning: string];
type Section = { heading: string; lines: readonly string[] };

/** How help looks: the columns that there are, and what sets a heading off. */
export type Look = { width: number; heading(text: string): string };

/**
 * What `--help` prints.
 * @param path the words of a command, `['sites', 'add']`; those of a family, `['sites']`; none: the program
 */
export function helpOf(path: readonly string[], { width, heading }: Look): string {
  const row = commands.find((each) => partsOf(each).name === path.join(' '));
  const { intro, sections } = row ? helpOfCommand(row, width) : path.length > 0 ? helpOfFamily(path[0], width) : helpOfProgram(width);
  const body = sections.filter(({ lines }) => lines.length > 0).map((each) => `${heading(each.heading)}\n${each.lines.join('\n')}`);
  return `${[...intro, ...body].join('\n\n')}\n`;
}

/** The same as data, for programs: what `--help --json` answers. */
export function helpData(path: readonly string[]) {
  const within = commands.filter((row) => `${partsOf(row).name} `.startsWith(path.map((word) => `${word} `).join('')));
  return {
    commands: within.map(({ run: _, ownsSignals: __, endsItself: ___, ownsStdout: ____, ...row }) => row),
    globalFlags: GLOBAL_FLAGS,
    exitCodes: EXIT_MEANINGS,
  };
}

function helpOfProgram(width: number) {
  const groups = GROUPS.map((group) => {
    const pairs = new Map<string, string>();
    for (const row of commands.filter((each) => each.group === group)) {
      const [first, second] = partsOf(row).name.split(' ');
      pairs.set(first, second ? familyWords(first) : row.summary);
    }
    return { heading: group, pairs: [...pairs] };
  });
  const termWidth = widest(groups.flatMap(({ pairs }) => pairs));
  return {
    intro: ['Passwordless e-mail sign-in for any site, from the terminal.', usage('<command>')],
    sections: [
      ...groups.map(({ heading, pairs }) => ({ heading, lines: inColumns(pairs, width, termWidth) })),
      flagSection('Global flags', GLOBAL_FLAGS, width),
      examples(['register shop.example --email you@example.com', 'login', 'init', 'stats']),
      learnMore(
        ['`emailauth help <command>` prints the flags and examples of a command.', '`emailauth open docs` opens the documentation.'],
        width,
      ),
    ],
  };
}

function helpOfFamily(family: string, width: number) {
  const within = commands.filter((row) => partsOf(row).name.startsWith(`${family} `));
  return {
    intro: [sentence(familyWords(family)), usage(`${family} <command>`)],
    sections: [
      { heading: 'Commands', lines: inColumns(pairsWithin(family, within), width) },
      examples(within.slice(0, 3).map((row) => row.examples[0])),
      flagSection('Global flags', GLOBAL_FLAGS, width),
      learnMore([`\`emailauth help ${family} <command>\` prints the flags and examples of a command.`], width),
    ],
  };
}

const pairsWithin = (family: string, rows: readonly CommandRow[]) =>
  rows.map((row): Pair => [row.usage.slice(family.length + 1), row.summary]);

function helpOfCommand(row: CommandRow, width: number) {
  const own = Object.keys(row.flags ?? {}).map(nameOf);
  const globals = Object.entries(GLOBAL_FLAGS).filter(([flag]) => !own.includes(nameOf(flag)));
  const choices = Object.entries(row.choices ?? {}).filter(([name, values]) => Array.isArray(values) && !name.startsWith('-'));
  const exits = Object.entries(row.exits ?? {}).map(([code, meaning]): Pair => [code.padStart(2), meaning]);
  const { name } = partsOf(row);
  const below = commands.filter((each) => partsOf(each).name.startsWith(`${name} `));
  return {
    intro: [wrap(sentence(row.summary), width), ...(row.about ? [wrap(row.about, width)] : []), usage(row.usage)],
    sections: [
      { heading: 'Commands', lines: inColumns(pairsWithin(name, below), width) },
      {
        heading: 'Arguments',
        lines: inColumns(
          choices.map(([name, values]): Pair => [name, (values as string[]).join(', ')]),
          width,
        ),
      },
      flagSection('Flags', row.flags ?? {}, width),
      examples(row.examples),
      { heading: 'With --json', lines: row.json ? [indent(wrap(row.json.replaceAll(',', ', '), width - 2))] : [] },
      { heading: 'Exit codes of its own', lines: inColumns(exits, width) },
      flagSection('Global flags', Object.fromEntries(globals), width),
    ],
  };
}

/** Short flags stand in a column of their own. */
function flagSection(heading: string, flags: Readonly<Record<string, string>>, width: number): Section {
  const hasShort = Object.keys(flags).some((flag) => !flag.startsWith('--'));
  const pairs = Object.entries(flags).map(([flag, meaning]): Pair => [hasShort && flag.startsWith('--') ? `    ${flag}` : flag, meaning]);
  return { heading, lines: inColumns(pairs, width) };
}

function examples(lines: readonly string[]): Section {
  const typed = lines.map((line) => `  $ ${commandLine(line)}`);
  return { heading: typed.length === 1 ? 'Example' : 'Examples', lines: typed };
}

/** An example of the table as it is typed. */
export const commandLine = (example: string) => (example.includes('emailauth ') ? example : `emailauth ${example}`);

const learnMore = (lines: readonly string[], width: number): Section => ({
  heading: 'Learn more',
  lines: lines.map((line) => indent(wrap(line, width - 2))),
});

/** `--email` of `-e, --email <address>`. */
const nameOf = (flag: string) => /--[\w-]+/.exec(flag)?.[0];

function familyWords(family: string): string {
  const within = commands.map((row) => partsOf(row).name.split(' ')).filter(([first, second]) => first === family && second);
  return `${FAMILIES[family]}: ${within.map(([, second]) => second).join(', ')}`;
}

const usage = (line: string) => `Usage: emailauth ${line} [flags]`;
const sentence = (text: string) => `${text[0].toUpperCase()}${text.slice(1)}.`;
const indent = (text: string) => text.replace(/^/gm, '  ');
const widest = (pairs: readonly Pair[]) => Math.max(0, ...pairs.map(([term]) => term.length));

function inColumns(pairs: readonly Pair[], width: number, termWidth = widest(pairs)): string[] {
  const start = termWidth + 4;
  return pairs.map(([term, meaning]) => {
    const [first, ...rest] = wrap(meaning, Math.max(20, width - start)).split('\n');
    return [`  ${term.padEnd(termWidth)}  ${first}`, ...rest.map((line) => ' '.repeat(start) + line)].join('\n');
  });
}

/** Breaks a text between its words. */
export function wrap(text: string, width: number): string {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines[lines.length - 1];
    if (last && last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines.join('\n');
}
