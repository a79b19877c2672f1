import { type CommandSpec, GROUPS, partsOf } from './command.ts';
import { commands, FAMILIES, GLOBAL_FLAGS } from './commands.ts';
import { EXIT_MEANINGS } from './exit.ts';
import { wrap, wrapAround } from './text.ts';

type Pair = readonly [term: string, meaning: string];
type Section = { heading: string; lines: readonly string[] };

/** How help is printed: the columns available, and the style of a heading. */
export type HelpStyle = { width: number; heading(text: string): string };

/**
 * Returns what `--help` prints.
 * @param path the words of a command, `['sites', 'add']`, or of a family, `['sites']`; empty: the program
 */
export function formatHelp(path: readonly string[], { width, heading }: HelpStyle): string {
  const command = commands.find((each) => partsOf(each).name === path.join(' '));
  const { intro, sections } = command ? commandHelp(command, width) : path.length > 0 ? familyHelp(path[0], width) : programHelp(width);
  const body = sections.filter(({ lines }) => lines.length > 0).map((each) => `${heading(each.heading)}\n${each.lines.join('\n')}`);
  return `${[...intro, ...body].join('\n\n')}\n`;
}

/** Returns the same as data: what `--help --json` prints. */
export function helpData(path: readonly string[]) {
  const matching = commands.filter((command) => `${partsOf(command).name} `.startsWith(path.map((word) => `${word} `).join('')));
  return {
    commands: matching.map(({ run: _, ownsSignals: __, waitsForCleanUp: ___, ownsStdout: ____, ...described }) => described),
    globalFlags: GLOBAL_FLAGS,
    exitCodes: EXIT_MEANINGS,
  };
}

function programHelp(width: number) {
  const groups = GROUPS.map((group) => {
    const pairs = new Map<string, string>();
    for (const command of commands.filter((each) => each.group === group)) {
      const [first, second] = partsOf(command).name.split(' ');
      pairs.set(first, second ? describeFamily(first) : command.summary);
    }
    return { heading: group, pairs: [...pairs] };
  });
  const termWidth = widest(groups.flatMap(({ pairs }) => pairs));
  return {
    intro: [paragraphOf('Passwordless email sign-in for any website, from the terminal.', width), usage('<command>', width)],
    sections: [
      ...groups.map(({ heading, pairs }) => ({ heading, lines: inColumns(pairs, width, termWidth) })),
      flagSection('Global flags', GLOBAL_FLAGS, width),
      examples(['register shop.example --email you@example.com', 'login', 'init', 'stats'], width),
      learnMore(
        ['`emailauth help <command>` prints the flags and examples of a command.', '`emailauth open docs` opens the documentation.'],
        width,
      ),
    ],
  };
}

function familyHelp(family: string, width: number) {
  const members = commands.filter((command) => partsOf(command).name.startsWith(`${family} `));
  return {
    intro: [paragraphOf(sentence(describeFamily(family)), width), usage(`${family} <command>`, width)],
    sections: [
      { heading: 'Commands', lines: inColumns(usagesIn(family, members), width) },
      examples(
        members.slice(0, 3).map((command) => command.examples[0]),
        width,
      ),
      flagSection('Global flags', GLOBAL_FLAGS, width),
      learnMore([`\`emailauth help ${family} <command>\` prints the flags and examples of a command.`], width),
    ],
  };
}

const usagesIn = (family: string, members: readonly CommandSpec[]) =>
  members.map((command): Pair => [command.usage.slice(family.length + 1), command.summary]);

function commandHelp(command: CommandSpec, width: number) {
  const own = Object.keys(command.flags ?? {}).map(nameOf);
  const globals = Object.entries(GLOBAL_FLAGS).filter(([flag]) => !own.includes(nameOf(flag)));
  const choices = Object.entries(command.choices ?? {}).filter(([name, values]) => Array.isArray(values) && !name.startsWith('-'));
  const exits = Object.entries(command.exits ?? {}).map(([code, meaning]): Pair => [code.padStart(2), meaning]);
  const { name } = partsOf(command);
  const below = commands.filter((each) => partsOf(each).name.startsWith(`${name} `));
  return {
    intro: [
      paragraphOf(sentence(command.summary), width),
      ...(command.about ? [paragraphOf(command.about, width)] : []),
      usage(command.usage, width),
    ],
    sections: [
      { heading: 'Commands', lines: inColumns(usagesIn(name, below), width) },
      {
        heading: 'Arguments',
        lines: inColumns(
          choices.map(([name, values]): Pair => [name, (values as string[]).join(', ')]),
          width,
        ),
      },
      flagSection('Flags', command.flags ?? {}, width),
      examples(command.examples, width),
      { heading: 'With --json', lines: command.json ? [indent(paragraphOf(command.json.replaceAll(',', ', '), width - 2))] : [] },
      { heading: 'Further exit codes', lines: inColumns(exits, width) },
      flagSection('Global flags', Object.fromEntries(globals), width),
    ],
  };
}

/** Short flags have their own column. */
function flagSection(heading: string, flags: Readonly<Record<string, string>>, width: number): Section {
  const hasShort = Object.keys(flags).some((flag) => !flag.startsWith('--'));
  const pairs = Object.entries(flags).map(([flag, meaning]): Pair => [hasShort && flag.startsWith('--') ? `    ${flag}` : flag, meaning]);
  return { heading, lines: inColumns(pairs, width) };
}

const QUOTED = /"[^"]*"|'[^']*'/g;

/** A line that is too long continues after a backslash, so that it can be copied. */
function examples(lines: readonly string[], width: number): Section {
  const typed = lines.map((line) => `  $ ${wrapAround(commandLine(line), QUOTED, width - 8).join(' \\\n      ')}`);
  return { heading: typed.length === 1 ? 'Example' : 'Examples', lines: typed };
}

/** Returns an example with the program's name. */
export const commandLine = (example: string) => (example.includes('emailauth ') ? example : `emailauth ${example}`);

const learnMore = (lines: readonly string[], width: number): Section => ({
  heading: 'Learn more',
  lines: lines.map((line) => indent(paragraphOf(line, width - 2))),
});

/** Returns `--email` for `-e, --email <address>`. */
const nameOf = (flag: string) => /--[\w-]+/.exec(flag)?.[0];

function describeFamily(family: string): string {
  const members = commands.map((command) => partsOf(command).name.split(' ')).filter(([first, second]) => first === family && second);
  return `${FAMILIES[family]}: ${members.map(([, second]) => second).join(', ')}`;
}

const usage = (line: string, width: number) => wrap(`Usage: emailauth ${line} [flags]`, width).join('\n  ');
const sentence = (text: string) => `${text[0].toUpperCase()}${text.slice(1)}.`;
const paragraphOf = (text: string, width: number) => wrap(text, width).join('\n');
const indent = (text: string) => text.replace(/^/gm, '  ');
const widest = (pairs: readonly Pair[]) => Math.max(0, ...pairs.map(([term]) => term.length));

const MIN_MEANING_WIDTH = 20;

function inColumns(pairs: readonly Pair[], width: number, termWidth = widest(pairs)): string[] {
  const start = termWidth + 4;
  // In a narrow terminal each meaning is below its term.
  if (width - start < MIN_MEANING_WIDTH)
    return pairs.map(([term, meaning]) => [`  ${term}`, ...wrap(meaning, width - 8).map((line) => `        ${line}`)].join('\n'));
  return pairs.map(([term, meaning]) => {
    const [first, ...rest] = wrap(meaning, width - start);
    return [`  ${term.padEnd(termWidth)}  ${first}`, ...rest.map((line) => ' '.repeat(start) + line)].join('\n');
  });
}
